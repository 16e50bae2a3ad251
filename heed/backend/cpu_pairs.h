// Single-dimensional calls on the CPU kernels: one score for each pair of query and key.

#pragma once

#include "heed/backend/backend.h"

namespace heed::backend::cpu_pairs {

ForwardResult forward(const CallRecord& record, bool learns);
Tensors backward(const CallRecord& record, const SavedTensors& saved, const Tensors& grads,
                 const std::vector<bool>& wanted);

}  // namespace heed::backend::cpu_pairs
