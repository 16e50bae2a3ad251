// tanh and the activations on registers, with their derivatives.

#pragma once

#include <cmath>

#include "heed/kernels/cpu/simd/numbers.h"
#include "heed/kernels/problem.h"

namespace heed::kernels::cpu {

template <class V>
struct Functions {
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  static constexpr bool kFloat = sizeof(Real) == 4;

  static Reg exp(Reg x) { return V::exp2(V::mul(x, V::set1(Real(kLog2E)))); }
  static Reg log(Reg x) { return V::mul(V::log2(x), V::set1(Real(kLn2))); }
  static Reg negative(Reg x) { return V::sub(V::zero(), x); }

  /// 1 - 2 / (1 + e^2x): the absolute error is that of a number near 1. Beyond the bound |tanh| rounds to 1.
  static Reg tanh(Reg x) {
    constexpr Real kBound = kFloat ? 10 : 20;
    x = V::max(V::set1(-kBound), V::min(V::set1(kBound), x));
    const Reg e = V::exp2(V::mul(x, V::set1(Real(2 * kLog2E))));
    return V::fnma(V::set1(2), V::reciprocal(V::add(V::set1(1), e)), V::set1(1));
  }

  /// With e = e^-|x|, which never overflows: (x > 0 ? 1 : e) / (1 + e), exactly 0 at -inf.
  static Reg sigmoid(Reg x) {
    const Reg one = V::set1(1), e = exp(V::min(negative(x), x));
    return V::mul(V::select(V::greater(x, V::zero()), one, e), V::reciprocal(V::add(one, e)));
  }

  static Reg activate(Activation f, Reg x) {
    switch (f) {
      case Activation::tanh:
        return tanh(x);
      case Activation::relu:
        return V::select(V::greater(V::zero(), x), V::zero(), x);
      case Activation::sigmoid:
        return sigmoid(x);
      case Activation::elu:
        return V::each(x, [](Real y) { return y > 0 ? y : std::expm1(y); });
      case Activation::gelu:
        return V::each(x, [](Real y) { return y * below(y); });
      case Activation::silu:
        return V::mul(x, sigmoid(x));
      case Activation::identity:
        break;
    }
    return x;
  }

  /// d activate / dx
  static Reg activation_backward(Activation f, Reg x) {
    const Reg one = V::set1(1);
    switch (f) {
      case Activation::tanh: {
        const Reg y = tanh(x);
        return V::fnma(y, y, one);
      }
      case Activation::relu:
        return V::select(V::greater(x, V::zero()), one, V::zero());
      case Activation::sigmoid: {
        const Reg y = sigmoid(x);
        return V::fnma(y, y, y);
      }
      case Activation::elu:
        return V::select(V::greater(x, V::zero()), one, exp(V::min(x, V::zero())));
      case Activation::gelu:
        return V::each(x, [](Real y) { return below(y) + y * density(y); });
      case Activation::silu: {  // s + x s (1 - s)
        const Reg s = sigmoid(x);
        return V::fma(V::mul(x, s), V::sub(one, s), s);
      }
      case Activation::identity:
        break;
    }
    return one;
  }

  /// The largest |activate(f, x)| over all x; may be infinity.
  static Real bound(Activation f) {
    return f == Activation::tanh || f == Activation::sigmoid ? Real(1) : std::numeric_limits<Real>::infinity();
  }

 private:
  static Real below(Real x) { return Real(0.5) * std::erfc(-x * Real(0.70710678118654752)); }
  static Real density(Real x) { return std::exp(-x * x / 2) * Real(0.39894228040143268); }
};

}  // namespace heed::kernels::cpu
