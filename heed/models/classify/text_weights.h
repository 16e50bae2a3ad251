// What a classifier attends to in one example, as weights of words and of sentences.
//
//   attend                     a row for each query: one learned query, hops, classes of capsules
//   level_1, level_2           a document: words inside each sentence, and sentences
//   features.layers.0.self     self-attention of a Transformer: a row for each word

#pragma once

#include <string>
#include <vector>

#include "heed/base/links.h"
#include "heed/models/classify/classifier.h"

namespace heed {

struct TextWeights {
  std::string step{};                  // name of the attention call
  std::string column{};                // the text that is attended to
  int64_t sentence = -1;               // of a document: whose words; -1: the words of a text, or its sentences
  bool sentences = false;              // whether the keys are the sentences of a document
  bool self = false;                   // whether the queries are the words of the same text
  std::vector<std::string> words{};    // keys: words, or sentences
  std::vector<std::string> queries{};  // words, of this text or of another one; empty: the queries are no words
  WeightRows weights{};                // [query][key]: the sum over the pieces of a key, the mean over those of a query
  int64_t head = 0, heads = 1;         // head from 1; 0: the mean over heads
};

/// The weights of every attention call of an example, in order; none of a model without attention. head: from 1; 0: the
/// mean over heads. Throws Error if there is no such head.
std::vector<TextWeights> text_weights(Classifier& classifier, const std::vector<std::string>& example,
                                      int64_t head = 0);

/// The weight of each word of a text in what is classified: of the last call that attends to its words (the last hop if
/// hops share one), the mean over queries; in a document, the weight of a word times that of its sentence. Empty if no
/// call attends to it.
std::vector<double> word_weights(const std::vector<TextWeights>& all, const std::string& column);

}  // namespace heed
