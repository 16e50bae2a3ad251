// Cross entropy with label smoothing over rows of logits x [n, V], in place:
//
//   loss_i = lse_i - (1 - s) x_iy - s/V sum_c x_ic       lse_i = log sum_c exp x_ic, y the wanted class
//   dx_ic  = exp(x_ic - lse_i) - (1 - s) [c = y] - s/V
//
// Each row is read from memory once. Rows whose wanted class is `ignored` have loss and gradient 0.

#pragma once

#include <cstdint>

#include "heed/base/parallel.h"

namespace heed::kernels::cpu {

struct CrossEntropy {
  int64_t rows = 0, classes = 0;    // n, V
  float* logits = nullptr;          // [n, V]
  const int64_t* wanted = nullptr;  // [n], each `ignored` or a class
  int64_t ignored = -100;
  double smoothing = 0;
  bool gradient = false;  // whether the logits are replaced by the gradient
};

/// Returns the sum of the loss over rows, added in their order.
double cross_entropy(const CrossEntropy& problem, const ParallelFor& parallel_for);

}  // namespace heed::kernels::cpu
