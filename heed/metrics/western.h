// Punctuation of western scripts set apart by whitespace, as mteval-v13a and tercom do it. Four steps, each over the
// text that the one before has written; all that they look at is ASCII, so bytes will do.

#pragma once

#include <string>
#include <string_view>

namespace heed {

/// Step 1: ASCII punctuation except . , - ' stands alone.
std::string with_punctuation_apart(std::string_view text);

/// Steps 2 to 4: a point or comma stands alone unless digits are on both sides; so does a dash after a digit.
std::string with_points_apart(std::string_view text);

}  // namespace heed
