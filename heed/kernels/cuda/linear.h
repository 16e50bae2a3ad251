// Linear layers of few rows, in float: one launch forward, and one for all gradients. Larger ones belong to a library
// of matrix products, which needs several launches for the same.

#pragma once

#include <cstdint>

struct CUstream_st;

namespace heed::kernels::cuda {

struct Linear {
  int64_t rows = 0, in = 0, out = 0;
  const float* x = nullptr;       // [rows][in]
  const float* weight = nullptr;  // [out][in]
  const float* bias = nullptr;    // [out], or null
};

/// Whether the layer is so small that launches take longer than products.
bool is_small(const Linear& p);

/// y [rows][out] = x W' + b.
void forward(const Linear& p, float* y, CUstream_st* stream);

/// Of the gradient `y` [rows][out]; null: not wanted. Every sum has one order.
struct LinearGradients {
  const float* y = nullptr;
  float *x = nullptr, *weight = nullptr, *bias = nullptr;
};
void backward(const Linear& p, const LinearGradients& g, CUstream_st* stream);

}  // namespace heed::kernels::cuda
