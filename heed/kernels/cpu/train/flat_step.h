// A step of an optimizer on parameters in one array: the norm of the gradients in one pass; clipping, update and moving
// average in a second one.
//
//   g <- g scale                                  scale: 1 / number of terms of the loss
//   g <- g min(1, clip_norm / |g|)
//   adam   m <- b1 m + (1 - b1) g   v <- b2 v + (1 - b2) g^2   x <- x - rate decay x - rate m^ / (sqrt(v^) + eps)
//   sgd    m <- momentum m + g      x <- x - rate m
//   average <- average + weight (x - average)
//
// A step whose loss or norm is not finite changes nothing. The norm is added in double and in a fixed order: it is the
// same bits with any number of threads.

#pragma once

#include <cstdint>
#include <vector>

#include "heed/base/parallel.h"

namespace heed::kernels::cpu {

enum class FlatRule { sgd, adam };

template <typename Real>
struct FlatStep {
  FlatRule rule = FlatRule::adam;
  /// Gradients lie anywhere, in parts: those of the first `count` parameters, then of the next ones.
  struct Grads {
    int64_t count;
    const Real* at;  // null: they are 0
  };
  std::vector<Grads> grads{};
  Real* values = nullptr;
  Real *first = nullptr, *second = nullptr;  // m and v; null where the rule has none
  Real* average = nullptr;                   // null: no average
  double loss = 0;                           // sum of the loss
  double scale = 1, rate = 0;
  double first_share = 1, second_root = 1;              // 1 - b1^t, sqrt(1 - b2^t)
  double average_weight = 0;                            // of the new values in the moving average
  double clip_norm = 0;                                 // 0: no clipping
  double beta1 = 0, beta2 = 0, epsilon = 0, decay = 0;  // of adam; sgd: beta1 is the momentum
};

struct FlatStats {
  double loss = 0, norm = 0;  // scale * loss, and the norm of the scaled gradients before clipping
  bool finite = true;
};

/// change: false computes the figures alone. Instantiated for float and double.
template <typename Real>
FlatStats flat_step(const FlatStep<Real>& step, bool change, const ParallelFor& parallel_for);

}  // namespace heed::kernels::cpu
