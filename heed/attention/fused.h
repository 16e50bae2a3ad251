// Inside: a prepared call on the kernels of heed/kernels/fused, in one pass over pairs that are never stored.

#pragma once

#include "heed/attention/composed.h"

namespace heed {

/// Why no kernel can run such a call, or "". like: a tensor of its type, where it runs.
std::string no_kernel(const Mechanism& mechanism, const Call& call, const Tensor& like);

/// "avx2: additive x softmax", of a mechanism that has one.
std::string kernel_name(const Mechanism& mechanism, at::ScalarType type);

/// Outputs have all axes. Backward is a kernel too, where gradients come by context, lse and log_probability; by
/// anything else, or where it is itself being differentiated, it takes the composed path.
Attended run_fused(const Prepared& prepared, const Mechanism& mechanism, const Parameters& parameters,
                   const Call& call);

}  // namespace heed
