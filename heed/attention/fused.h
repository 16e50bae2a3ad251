// Internal: runs a prepared call on the kernels of heed/kernels/cpu, which never store the Lq x Lk scores.

#pragma once

#include "heed/attention/composed.h"

namespace heed {

/// Why no kernel can run such a call, or "". like: a tensor of its device.
std::string no_kernel(const Mechanism& mechanism, const Call& call, const Tensor& like);

/// "avx2: additive x softmax", for a mechanism that has a kernel.
std::string kernel_name(const Mechanism& mechanism, at::ScalarType type);

/// Outputs have all axes. Backward is a kernel for gradients of context, lse and log_probability. For gradients of
/// other outputs, and for second derivatives, backward runs on the composed path.
Attended run_fused(const Prepared& prepared, const Mechanism& mechanism, const Parameters& parameters,
                   const Call& call);

}  // namespace heed
