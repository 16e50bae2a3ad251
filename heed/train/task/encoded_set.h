// Labeled examples as token ids and labels, and what is said of them: hashes, and what was left out.

#pragma once

#include <string>
#include <vector>

#include "heed/data/labeled/labeled_corpus.h"
#include "heed/models/classify/labels.h"
#include "heed/models/classify/supervision.h"
#include "heed/models/classify/text_batch.h"
#include "heed/models/classify/text_reader.h"

namespace heed {

struct EncodedSet {
  ExampleIds ids;
  std::vector<Label> labels;                 // tokens: a class for each word
  std::vector<std::vector<int64_t>> pieces;  // tokens: a class for each piece, or LabelOutput::kNoLabel
  int64_t cut = 0;                           // texts that were too long
};

EncodedSet encoded(const TextReader& reader, const Examples& examples, const LabelSet& labels);

/// "left out of training: 1624 with an ignored label, 3 without text"; "" if none is.
std::string described(const LeftOut& left_out, const std::string& set);

/// What is hashed of a set: texts and labels, line by line.
std::vector<std::string> lines_of(const Examples& examples);
/// What is hashed of gold weights of tokens, example by example.
std::vector<std::string> lines_of(const TextSupervision::Gold& gold);

}  // namespace heed
