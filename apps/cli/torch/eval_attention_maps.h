// The maps of attention over the words of one text, one map at a time: what is classified, and what can agree with it.

#pragma once

#include <string>
#include <vector>

#include "heed/models/classify/classifier.h"

namespace heed::cli {

using WordMap = std::vector<double>;  // a weight for each word

struct WordMaps {
  WordMap weights{};               // word_weights(): of what is classified; equal ones in a model without attention
  std::vector<WordMap> heads{};    // the same of each head, if there are several
  std::vector<WordMap> calls{};    // of each call that attends to words, if there are several: layers, levels
  std::vector<WordMap> queries{};  // of each query or hop of the last call, if there are several that are not words
  int64_t words_not_read = 0;      // words beyond data.max_length, whose weight is 0
};

/// The number of words of the text as the classifier reads it.
size_t word_count(const Classifier& classifier, const std::string& text);

/// words: their number, from word_count(), at least 1. alone: only `weights`. Throws Error, with `where`, for weights
/// that are NaN or infinite, and if no call attends to the words of the text.
WordMaps word_maps(Classifier& classifier, const std::string& text, size_t words, const std::string& where,
                   bool alone = false);

}  // namespace heed::cli
