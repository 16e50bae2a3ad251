// Splits off the punctuation of western scripts, as mteval-v13a and tercom do. There are four steps, each applied to
// the output of the previous one. They test ASCII characters only, so they work on bytes.

#pragma once

#include <string>
#include <string_view>

namespace heed {

/// Step 1: splits off ASCII punctuation except . , - '
std::string with_punctuation_apart(std::string_view text);

/// Steps 2 to 4: splits off a period or comma unless it is between digits, and a dash after a digit.
std::string with_points_apart(std::string_view text);

}  // namespace heed
