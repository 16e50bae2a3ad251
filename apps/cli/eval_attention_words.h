// What is known of a word without reading it: the controls and the baselines of attention against people.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace heed::cli {

/// Number of characters.
double word_length(const std::string& word);

/// The word as it is counted: lowercase, without punctuation and symbols at its ends unless it has nothing else.
std::string counted_form(const std::string& word);

/// How often words occur in a training text, in their counted form.
class WordFrequency {
 public:
  void add(const std::string& text);

  /// log(1 + count)
  double log_frequency(const std::string& word) const;
  /// log((1 + N) / (1 + count)) of N words in all: 0 or more, larger for rarer words.
  double rarity(const std::string& word) const;
  int64_t size() const { return words_; }

 private:
  std::unordered_map<std::string, int64_t> counts_;
  int64_t words_ = 0;
};

}  // namespace heed::cli
