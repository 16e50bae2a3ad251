// Internal: attend() for tensors that a module has already cleaned.

#pragma once

#include "heed/attention/attend.h"

namespace heed {

/// attend(), where all that the mask leaves unreached is finite, such as projections of zeros: it is not set to 0
/// again.
Attended attend_finite(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
                       const Parameters& parameters, const Call& call);

}  // namespace heed
