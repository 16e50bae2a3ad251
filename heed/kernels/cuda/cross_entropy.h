// Cross entropy with label smoothing over rows of logits x [n, V] in device memory:
//
//   loss_i = lse_i - (1 - s) x_iy - s/V sum_c x_ic       lse_i = log sum_c exp x_ic, y the wanted class
//   dx_ic  = g (exp(x_ic - lse_i) - (1 - s) [c = y] - s/V)
//
// Forward reads the logits once; backward reads them once and may write over them. Rows whose wanted class is `ignored`
// have loss and gradient 0. Sums have a fixed order.

#pragma once

#include <cstdint>

struct CUstream_st;

namespace heed::kernels::cuda {

struct CrossEntropy {
  int64_t rows = 0, classes = 0;    // n, V
  const float* logits = nullptr;    // [n, V]
  const int64_t* wanted = nullptr;  // [n]
  int64_t ignored = -100;
  float smoothing = 0;
};

/// Writes loss [n] and lse [n].
void cross_entropy_forward(const CrossEntropy& p, float* loss, float* lse, CUstream_st* stream);
/// Writes dx [n, V], which may be the memory of the logits; grad: g, one number.
void cross_entropy_backward(const CrossEntropy& p, const float* lse, const float* grad, float* dx, CUstream_st* stream);

}  // namespace heed::kernels::cuda
