// Tensors to the definition and back.

#pragma once

#include <torch/types.h>

#include "heed/kernels/reference/reference.h"

namespace heed {

/// A copy in double; an undefined tensor is an empty array.
kernels::reference::Array<double> doubles(const at::Tensor& tensor);
kernels::reference::Array<int64_t> integers(const at::Tensor& tensor);
kernels::reference::Array<uint8_t> flags(const at::Tensor& tensor);

/// A copy; an empty array is an undefined tensor.
at::Tensor to_tensor(const kernels::reference::Array<double>& array, const at::TensorOptions& options);

/// The definition, on torch's threads.
kernels::reference::Answer<double> define(const kernels::reference::Problem<double>& problem);

}  // namespace heed
