// Functions for Real = double and std::complex<double>, holomorphic to first order.
//
// The complex step reads a gradient from an imaginary part of about 1e-30, so only the first power of that part
// matters: if the standard library has no complex version of f, f(x) + i f'(x) imag(x) is as exact. Absolute values and
// maxima are taken of real parts; std::abs, std::norm and std::conj are not holomorphic and must not be used.

#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "heed/base/check.h"

namespace heed::kernels::reference {

using Complex = std::complex<double>;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The real part, which comparisons use.
inline double re(double x) {
  return x;
}
inline double re(const Complex& x) {
  return x.real();
}

/// `value`, with the gradient of x times `derivative`.
inline double first_order(double, double value, double) {
  return value;
}
inline Complex first_order(const Complex& x, double value, double derivative) {
  return {value, derivative * x.imag()};
}

/// x without its gradient.
template <typename Real>
Real constant(const Real& x) {
  return Real(re(x));
}

/// sqrt(x) whose gradient is 0 at x = 0, instead of infinite: 1 / (2 max(sqrt(x), 1e-8)).
template <typename Real>
Real root(const Real& x) {
  const double value = std::sqrt(std::max(re(x), 0.0));
  return first_order(x, std::isnan(re(x)) ? re(x) : value, 0.5 / std::max(value, 1e-8));
}

template <typename Real>
Real expm1(const Real& x) {
  return first_order(x, std::expm1(re(x)), std::exp(re(x)));
}

template <typename Real>
Real log1p(const Real& x) {
  return first_order(x, std::log1p(re(x)), 1 / (1 + re(x)));
}

/// 1 / (1 + exp(-x)), written so that exp never overflows.
template <typename Real>
Real sigmoid(const Real& x) {
  if (re(x) >= 0) return 1.0 / (1.0 + std::exp(-x));
  const Real small = std::exp(x);
  return small / (1.0 + small);
}

/// log sigmoid(x) = -softplus(-x); log(1 - sigmoid(x)) = log_sigmoid(-x).
template <typename Real>
Real log_sigmoid(const Real& x) {
  if (re(x) >= 0) return -log1p<Real>(std::exp(-x));
  return x - log1p<Real>(std::exp(x));
}

/// x Phi(x), with the exact Phi(x) = (1 + erf(x / sqrt 2)) / 2.
template <typename Real>
Real gelu(const Real& x) {
  const double at = re(x), below = 0.5 * std::erfc(-at / std::sqrt(2.0));
  const double density = std::exp(-at * at / 2) / std::sqrt(2 * std::acos(-1.0));
  return first_order(x, at * below, below + at * density);
}

/// The activations by name; the first is the default.
inline const std::vector<std::string>& activation_names() {
  static const std::vector<std::string> names{"tanh", "relu", "sigmoid", "elu", "gelu", "silu", "identity"};
  return names;
}

template <typename Real>
using Activation = Real (*)(const Real&);

template <typename Real>
Activation<Real> activation(const std::string& word) {
  if (word == "tanh") return [](const Real& x) -> Real { return std::tanh(x); };
  if (word == "relu") return [](const Real& x) -> Real { return re(x) <= 0 ? Real(0) : x; };
  if (word == "sigmoid") return sigmoid<Real>;
  if (word == "elu") return [](const Real& x) -> Real { return re(x) <= 0 ? expm1(x) : x; };
  if (word == "gelu") return gelu<Real>;
  if (word == "silu") return [](const Real& x) -> Real { return x * sigmoid(x); };
  if (word == "identity") return [](const Real& x) -> Real { return x; };
  fail("kernels/reference: got activation '", word, "', expected one of ", joined(activation_names()));
}

}  // namespace heed::kernels::reference
