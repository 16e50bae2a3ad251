// Names of settings and options that earlier versions had.

#pragma once

#include <string>
#include <vector>

namespace heed {

/// The name among `known` that replaced `old`, or "" if none of them did.
std::string replacement_of(const std::string& old, const std::vector<std::string>& known);

}  // namespace heed
