// Conversion between tensors and the arrays of the reference implementation (heed/kernels/reference).

#pragma once

#include <torch/types.h>

#include "heed/kernels/reference/reference.h"

namespace heed {

/// Copies as double, int64 and uint8; an undefined tensor becomes an empty array.
kernels::reference::Array<double> doubles(const at::Tensor& tensor);
kernels::reference::Array<int64_t> integers(const at::Tensor& tensor);
kernels::reference::Array<uint8_t> flags(const at::Tensor& tensor);

/// A copy; an empty array becomes an undefined tensor.
at::Tensor to_tensor(const kernels::reference::Array<double>& array, const at::TensorOptions& options);

/// Runs the reference implementation on torch's threads.
kernels::reference::Answer<double> define(const kernels::reference::Problem<double>& problem);

}  // namespace heed
