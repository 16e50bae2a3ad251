// Suggestions for misspelled names.

#pragma once

#include <string>
#include <vector>

namespace heed {

/// Edit distance with insertion, deletion, substitution and transposition of neighbors (optimal string alignment).
size_t distance(const std::string& from, const std::string& to);

/// The nearest of the known words, or "" if none is near (the distance is more than a third of the longer word).
std::string nearest(const std::string& word, const std::vector<std::string>& known);

/// " (did you mean 'additive'?)", or "" if none is near.
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

}  // namespace heed
