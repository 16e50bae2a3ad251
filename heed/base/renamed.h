// Settings and options that were renamed.

#pragma once

#include <string>
#include <vector>

namespace heed {

/// The name in `known` that replaced `old`, or "" if there is none.
std::string replacement_of(const std::string& old, const std::vector<std::string>& known);

}  // namespace heed
