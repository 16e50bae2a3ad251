// Ranges in messages and lists: "0 <= dropout < 1".

#pragma once

#include <cstdint>
#include <string>

namespace heed {

/// "0 <= name <= 5", "name >= 1", "0 < name < 1" (an exclusive bound is made by above() or below() of settings.h); at
/// least one bound is finite.
std::string written_range(const std::string& name, double min, double max);
/// The same for whole numbers; the extremes of int64_t are no bounds.
std::string written_range(const std::string& name, int64_t min, int64_t max);

}  // namespace heed
