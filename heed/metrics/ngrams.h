// n-gram counts: of words for chrF++, of characters for chrF.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace heed {

template <typename Key>
using NgramCounts = std::unordered_map<Key, int64_t>;

/// Word n-grams, joined by a space (which no word contains).
inline NgramCounts<std::string> word_ngrams(const std::vector<std::string>& words, size_t n) {
  NgramCounts<std::string> counts;
  for (size_t i = 0; i + n <= words.size(); ++i) {
    std::string ngram = words[i];
    for (size_t j = 1; j < n; ++j) ngram += ' ' + words[i + j];
    ++counts[ngram];
  }
  return counts;
}

inline NgramCounts<std::u32string> character_ngrams(const std::u32string& text, size_t n) {
  NgramCounts<std::u32string> counts;
  for (size_t i = 0; i + n <= text.size(); ++i) ++counts[text.substr(i, n)];
  return counts;
}

template <typename Key>
int64_t total(const NgramCounts<Key>& counts) {
  int64_t sum = 0;
  for (const auto& [ngram, count] : counts) sum += count;
  return sum;
}

/// Clipped matches: the sum over n-grams of the smaller of the two counts.
template <typename Key>
int64_t matches(const NgramCounts<Key>& one, const NgramCounts<Key>& other) {
  int64_t sum = 0;
  for (const auto& [ngram, count] : one)
    if (const auto found = other.find(ngram); found != other.end()) sum += std::min(count, found->second);
  return sum;
}

}  // namespace heed
