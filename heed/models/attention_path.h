// The path of each attention in a model, in one line for a log.

#pragma once

#include <string>

#include "heed/structures/uses.h"

namespace heed {

/// "attention: fused, kernel avx2: additive x softmax"; with different paths, the users of each: "attention: encoder:
/// fused, ...; decoder: composed ...". user_of: of a step, by its name.
std::string described_paths(const Steps& steps, std::string (*user_of)(const std::string& step));

}  // namespace heed
