// Runs of n neighbors, counted: words for BLEU and chrF++, characters for chrF.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace heed {

template <typename Key>
using Counts = std::unordered_map<Key, int64_t>;

/// Runs of n words, joined by blanks (which no word has).
inline Counts<std::string> word_ngrams(const std::vector<std::string>& words, size_t n) {
  Counts<std::string> counts;
  for (size_t i = 0; i + n <= words.size(); ++i) {
    std::string run = words[i];
    for (size_t j = 1; j < n; ++j) run += ' ' + words[i + j];
    ++counts[run];
  }
  return counts;
}

inline Counts<std::u32string> character_ngrams(const std::u32string& text, size_t n) {
  Counts<std::u32string> counts;
  for (size_t i = 0; i + n <= text.size(); ++i) ++counts[text.substr(i, n)];
  return counts;
}

template <typename Key>
int64_t total(const Counts<Key>& counts) {
  int64_t sum = 0;
  for (const auto& [run, count] : counts) sum += count;
  return sum;
}

/// How many of the one are in the other, each as often as it is there.
template <typename Key>
int64_t matches(const Counts<Key>& one, const Counts<Key>& other) {
  int64_t sum = 0;
  for (const auto& [run, count] : one)
    if (const auto found = other.find(run); found != other.end()) sum += std::min(count, found->second);
  return sum;
}

}  // namespace heed
