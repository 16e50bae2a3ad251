// How the log-probability of a translation is normalized by its length, so that beam search does not prefer short ones:
//
//   gnmt      log p / ((5 + n) / 6)^alpha      (Wu et al., 2016)
//   length    log p / n^alpha                  (fairseq; alpha 1 is the mean over tokens)
//
// n counts the end marker, as fairseq does.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

enum class LengthNormalization { gnmt, length };

/// The names, in the order of the enumeration.
std::vector<std::string> length_normalizations();
/// The normalization of that name. Throws Error for any other.
LengthNormalization length_normalization(const std::string& name);
/// What the log-probability of `length` tokens, including the end marker, is divided by.
double length_divisor(LengthNormalization normalization, int64_t length, double alpha);

}  // namespace heed
