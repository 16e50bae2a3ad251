// Conversion between a call and the definition (heed/kernels/reference), for the reference path and for tests.

#pragma once

#include <torch/types.h>

#include "heed/backend/record.h"
#include "heed/kernels/reference/reference.h"

namespace heed::backend {

/// Copies as double, int64 and uint8; an undefined tensor becomes an empty array.
kernels::reference::Array<double> doubles(const at::Tensor& tensor);
kernels::reference::Array<int64_t> integers(const at::Tensor& tensor);
kernels::reference::Array<uint8_t> flags(const at::Tensor& tensor);

/// A copy; an empty array becomes an undefined tensor.
at::Tensor to_tensor(const kernels::reference::Array<double>& array, const at::TensorOptions& options);

/// The call as a problem of the definition. query and keys of the record are as the caller gave them.
kernels::reference::Problem<double> problem_of(const CallRecord& record);

}  // namespace heed::backend
