// How much weight a classifier gives to the words that decide the class, where these are known.
//
//   share = mean over texts of   sum_i weight_i [word i is relevant] / sum_i weight_i

#pragma once

#include <vector>

#include "heed/data/labeled/examples.h"
#include "heed/models/classify/classifier.h"

namespace heed::cli {

struct RelevantShare {
  double weight = 0;  // share of the weights on relevant words
  double words = 0;   // share of relevant words, which is that of equal weights
};

/// The share of one text. Throws Error unless there is a weight for each word.
RelevantShare relevant_share(const std::vector<double>& weights, const std::vector<bool>& relevant);

/// The mean over examples of one text, with the weights of word_weights(), or equal ones in a model without attention.
/// Texts without relevant words are left out. Throws Error if the relevant words of the examples are not known.
RelevantShare relevant_share(Classifier& classifier, const Examples& examples);

}  // namespace heed::cli
