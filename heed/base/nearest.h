// The known word that a misspelt one probably meant.

#pragma once

#include <string>
#include <vector>

namespace heed {

/// The fewest letters to insert, drop, replace or swap with a neighbor on the way from one word to the other.
size_t distance(const std::string& from, const std::string& to);

/// The nearest of the known words, or "" when none is near (more than a third of the letters differ).
std::string nearest(const std::string& word, const std::vector<std::string>& known);

/// " (did you mean 'additive'?)", or "".
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

}  // namespace heed
