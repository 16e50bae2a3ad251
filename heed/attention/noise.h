// Random numbers of a call inside a training step.

#pragma once

#include "heed/call.h"

namespace heed {

/// Inside a NoiseScope (heed/torch_support/noise_scope.h), if neither seed nor stream is set: takes both, and
/// first_row, from the scope.
void follow_scope(Noise& noise);

}  // namespace heed
