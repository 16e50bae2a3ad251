// The functions of TrainKernels as templates over an instruction set.

#pragma once

#include <algorithm>
#include <cmath>

#include "heed/kernels/cpu/engine/noise.h"
#include "heed/kernels/cpu/simd/functions.h"
#include "heed/kernels/cpu/tiles/product.h"
#include "heed/kernels/cpu/train/kernels.h"

namespace heed::kernels::cpu {

template <class V>
struct TrainPasses {
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  using F = Functions<V>;

  /// Calls body(i, load, store) for each register of `count` numbers; the last one may be in part.
  template <typename Body>
  [[gnu::always_inline]] static void each(int64_t count, const Body& body) {
    int64_t i = 0;
    for (; i + V::kLanes <= count; i += V::kLanes)
      body(
          i, [](const Real* p) { return V::load(p); }, [](Real* p, Reg x) { V::store(p, x); });
    const int64_t left = count - i;
    if (left > 0)
      body(
          i, [left](const Real* p) { return V::load_some(p, left); },
          [left](Real* p, Reg x) { V::store_some(p, x, left); });
  }

  static double sum_of_squares(const Real* x, int64_t count) {
    constexpr int64_t kSums = 16;  // independent, so that the compiler may use registers
    double sums[kSums] = {};
    int64_t i = 0;
    for (; i + kSums <= count; i += kSums)
      for (int64_t j = 0; j < kSums; ++j) sums[j] += static_cast<double>(x[i + j]) * static_cast<double>(x[i + j]);
    for (int64_t j = 0; i < count; ++i, ++j) sums[j] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    double all = 0;
    for (const double sum : sums) all += sum;
    return all;
  }

  static void update(FlatRule rule, const UpdateNumbers<Real>& n, const UpdatePart<Real>& p) {
    if (rule == FlatRule::adam)
      p.average != nullptr ? update_by<FlatRule::adam, true>(n, p) : update_by<FlatRule::adam, false>(n, p);
    else
      p.average != nullptr ? update_by<FlatRule::sgd, true>(n, p) : update_by<FlatRule::sgd, false>(n, p);
  }

  template <FlatRule kRule, bool kAverage>
  static void update_by(const UpdateNumbers<Real>& n, const UpdatePart<Real>& p) {
    each(p.count, [&](int64_t i, const auto& load, const auto& store) {
      const Reg g = p.grads == nullptr ? V::zero() : V::mul(load(p.grads + i), V::set1(n.scale));
      Reg x = V::mul(load(p.values + i), V::set1(n.keep));
      if constexpr (kRule == FlatRule::adam) {
        const Reg m = V::fma(load(p.first + i), V::set1(n.beta1), V::mul(g, V::set1(n.rest1)));
        const Reg v = V::fma(load(p.second + i), V::set1(n.beta2), V::mul(V::mul(g, g), V::set1(n.rest2)));
        const Reg below = V::fma(V::sqrt(v), V::set1(n.root), V::set1(n.epsilon));
        x = V::fnma(V::set1(n.rate), V::div(m, below), x);
        store(p.first + i, m);
        store(p.second + i, v);
      } else if (p.first != nullptr) {
        const Reg m = V::fma(load(p.first + i), V::set1(n.beta1), g);
        x = V::fnma(V::set1(n.rate), m, x);
        store(p.first + i, m);
      } else {
        x = V::fnma(V::set1(n.rate), g, x);
      }
      store(p.values + i, x);
      if constexpr (kAverage) {
        const Reg before = load(p.average + i);
        store(p.average + i, V::fma(V::set1(n.average_weight), V::sub(x, before), before));
      }
    });
  }

  static double cross_entropy(Real* row, int64_t classes, int64_t wanted, double smoothing, bool gradient) {
    const int64_t whole = classes / V::kLanes * V::kLanes;
    const double wanted_logit = row[wanted];
    Reg tops = V::set1(row[0]), sums = V::zero();
    for (int64_t i = 0; i < whole; i += V::kLanes) {
      const Reg x = V::load(row + i);
      tops = V::max(tops, x);
      sums = V::add(sums, x);
    }
    Real top = V::reduce_max(tops);
    double all = smoothing == 0 ? 0 : V::sum(sums);
    for (int64_t i = whole; i < classes; ++i) {
      top = std::max(top, row[i]);
      all += row[i];
    }
    const Reg shift = V::set1(top);
    double sum = 0;
    constexpr int64_t kBlock = 32 * V::kLanes;  // added in Real; a long sum would lose its small terms
    for (int64_t first = 0; first < whole; first += kBlock) {
      Reg total = V::zero();
      for (int64_t i = first; i < std::min(whole, first + kBlock); i += V::kLanes) {
        const Reg e = F::exp(V::sub(V::load(row + i), shift));
        total = V::add(total, e);
        if (gradient) V::store(row + i, e);
      }
      sum += V::sum(total);
    }
    for (int64_t i = whole; i < classes; ++i) {
      const Real e = std::exp(row[i] - top);
      sum += e;
      if (gradient) row[i] = e;
    }
    if (gradient) {
      const Real share = static_cast<Real>(1 / sum),
                 smooth = static_cast<Real>(smoothing / static_cast<double>(classes));
      for (int64_t i = 0; i < whole; i += V::kLanes)
        V::store(row + i, V::sub(V::mul(V::load(row + i), V::set1(share)), V::set1(smooth)));
      for (int64_t i = whole; i < classes; ++i) row[i] = row[i] * share - smooth;
      row[wanted] -= static_cast<Real>(1 - smoothing);
    }
    const double mean = smoothing == 0 ? 0 : smoothing / static_cast<double>(classes) * all;
    return std::log(sum) + static_cast<double>(top) - (1 - smoothing) * wanted_logit - mean;
  }

  static void gru_forward(const GruForward<Real>& s, int64_t first_row, int64_t last_row) {
    const int64_t S = s.width;
    for (int64_t b = first_row; b < last_row; ++b) {
      const Real *const x = s.given + b * 3 * S, *const o = s.own + b * 3 * S, *const h = s.before + b * S;
      Real *const gates = s.gates + b * 3 * S, *const after = s.after + b * S;
      each(S, [&](int64_t i, const auto& load, const auto& store) {
        const Reg r = F::sigmoid(V::add(load(x + i), load(o + i)));
        const Reg z = F::sigmoid(V::add(load(x + S + i), load(o + S + i)));
        const Reg n = F::tanh(V::fma(r, load(o + 2 * S + i), load(x + 2 * S + i)));
        store(gates + i, r);
        store(gates + S + i, z);
        store(gates + 2 * S + i, n);
        store(after + i, V::fma(z, V::sub(load(h + i), n), n));
      });
    }
  }

  static void gru_backward(const GruBackward<Real>& s, int64_t first_row, int64_t last_row) {
    const int64_t S = s.width;
    const Reg one = V::set1(1);
    for (int64_t b = first_row; b < last_row; ++b) {
      const Real *const gates = s.gates + b * 3 * S, *const o = s.own + b * 3 * S;
      const Real *const h = s.before + b * S, *const grad = s.grad + b * S;
      Real *const dx = s.to_given + b * 3 * S, *const du = s.to_own + b * 3 * S, *const dh = s.to_before + b * S;
      each(S, [&](int64_t i, const auto& load, const auto& store) {
        const Reg r = load(gates + i), z = load(gates + S + i), n = load(gates + 2 * S + i), g = load(grad + i);
        const Reg da_n = V::mul(V::mul(g, V::sub(one, z)), V::fnma(n, n, one));
        const Reg da_z = V::mul(V::mul(g, V::sub(load(h + i), n)), V::mul(z, V::sub(one, z)));
        const Reg da_r = V::mul(V::mul(da_n, load(o + 2 * S + i)), V::mul(r, V::sub(one, r)));
        store(dx + i, da_r);
        store(du + i, da_r);
        store(dx + S + i, da_z);
        store(du + S + i, da_z);
        store(dx + 2 * S + i, da_n);
        store(du + 2 * S + i, V::mul(da_n, r));
        store(dh + i, V::mul(g, z));
      });
    }
  }

  static void dropout(const Dropout& p, int64_t first, int64_t last) {
    if constexpr (sizeof(Real) == sizeof(float)) {
      const Noise<V> noise{p.seed, stream_word(p.stream, kDropout)};
      const Reg rate = V::set1(p.rate), factor = V::set1(static_cast<float>(1 / (1 - static_cast<double>(p.rate))));
      alignas(64) Real u[kPanel];
      for (int64_t i = first; i < last; ++i) {
        const auto row = static_cast<uint32_t>(p.first_row + i / p.positions);
        const auto position = static_cast<uint32_t>(i % p.positions);
        for (int64_t column = 0; column < p.width; column += kPanel) {
          noise.uniforms(row, position, column, u);
          const float* const x = p.x + i * p.width + column;
          float* const y = p.y + i * p.width + column;
          each(std::min<int64_t>(kPanel, p.width - column), [&](int64_t j, const auto& load, const auto& store) {
            const Reg kept = V::select(V::at_least(V::load(u + j), rate), factor, V::zero());
            store(y + j, V::mul(load(x + j), kept));
          });
        }
      }
    }
  }

  static constexpr int64_t kStrip = V::kAcross * V::kLanes;
  static constexpr int64_t kDepth = 384;  // rows of a strip that stay in the first cache

  static void pack(const PackedSource<Real>& from, int64_t first_strip, int64_t last_strip, Real* to) {
    constexpr int64_t kBlock = 16;
    for (int64_t strip = first_strip; strip < last_strip; ++strip) {
      Real* const own = to + strip * kStrip * from.depth;
      const Real* const at = from.at + strip * kStrip * from.column;
      const int64_t real = std::min(kStrip, from.width - strip * kStrip);
      for (int64_t k = 0; k < from.depth; k += kBlock) {
        const int64_t end = std::min(from.depth, k + kBlock);
        for (int64_t n = 0; n < real; ++n)
          for (int64_t i = k; i < end; ++i) own[i * kStrip + n] = at[i * from.row + n * from.column];
        for (int64_t n = real; n < kStrip; ++n)
          for (int64_t i = k; i < end; ++i) own[i * kStrip + n] = 0;
      }
    }
  }

  static void product(const PackedRows<Real>& p, const Real* packed, int64_t first_strip, int64_t last_strip) {
    constexpr int64_t kRows = 96;  // of c that are kept aside for a strip in part
    for (int64_t strip = first_strip; strip < last_strip; ++strip) {
      const int64_t first = strip * kStrip, real = std::min(kStrip, p.width - first);
      const Real* const b = packed + first * p.depth;
      if (real == kStrip) {
        strip_of(p, b, 0, p.rows, p.start == nullptr ? nullptr : p.start + first, p.c + first, p.ldc);
        continue;
      }
      alignas(64) Real aside[kRows * kStrip], start[kStrip] = {};
      if (p.start != nullptr) std::copy_n(p.start + first, real, start);
      for (int64_t row = 0; row < p.rows; row += kRows) {
        const int64_t rows = std::min(kRows, p.rows - row);
        for (int64_t r = 0; r < rows && p.add; ++r) {
          std::fill_n(aside + r * kStrip, kStrip, Real(0));
          std::copy_n(p.c + (row + r) * p.ldc + first, real, aside + r * kStrip);
        }
        strip_of(p, b, row, rows, p.start == nullptr ? nullptr : start, aside, kStrip);
        for (int64_t r = 0; r < rows; ++r) std::copy_n(aside + r * kStrip, real, p.c + (row + r) * p.ldc + first);
      }
    }
  }

 private:
  /// One whole strip for rows [row, row + rows) of a; c points to the first of them.
  static void strip_of(const PackedRows<Real>& p, const Real* b, int64_t row, int64_t rows, const Real* start, Real* c,
                       int64_t ldc) {
    if (start != nullptr)
      for (int64_t r = 0; r < rows; ++r) std::copy_n(start, kStrip, c + r * ldc);
    bool add = start != nullptr || p.add;
    int64_t k = 0;
    do {
      const int64_t steps = std::min(kDepth, p.depth - k);
      const Left<Real> a{p.a + row * p.lda + k, p.lda, 1};
      if (add)
        Product<V, Start::add>::run(a, b + k * kStrip, kStrip, steps, c, ldc, static_cast<int>(rows), kStrip);
      else
        Product<V, Start::zero>::run(a, b + k * kStrip, kStrip, steps, c, ldc, static_cast<int>(rows), kStrip);
      add = true;
      k += steps;
    } while (k < p.depth);
  }

 public:
  static constexpr TrainKernels<Real> kKernels{sum_of_squares, update, cross_entropy, gru_forward, gru_backward,
                                               dropout,        kStrip, pack,          product};
};

}  // namespace heed::kernels::cpu
