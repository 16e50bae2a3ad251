// Multi-dimensional calls on the CPU kernels: one score for each channel of the values.

#pragma once

#include "heed/backend/backend.h"

namespace heed::backend::cpu_channels {

ForwardResult forward(const CallRecord& record, bool learns);
Tensors backward(const CallRecord& record, const SavedTensors& saved, const Tensors& grads,
                 const std::vector<bool>& wanted);

}  // namespace heed::backend::cpu_channels
