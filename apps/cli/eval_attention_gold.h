// Gold weights of people for the words of texts, from a table (heed/data/labeled/table.h): rationales (1: it decides,
// 0: it does not) or any scale, such as reading times. Two forms:
//
//   a record is a text    id TAB text TAB weights       weights separated by blanks, one for each word of the text;
//                                                       without a column of texts they are those of the run's set
//   a record is a word    id, word, weight              consecutive records with the same id are a text
//
// An id is that of one text.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/attention_options.h"

namespace heed::cli {

struct GoldText {
  std::string id{}, text{};       // text: words separated by blanks; empty if the file has no texts
  std::vector<double> weights{};  // of each word
  std::string where{};            // "gold.tsv:17"
};

struct GoldWeights {
  std::vector<GoldText> texts;
  bool has_text = false;

  /// Whether all weights are 0 or 1.
  bool binary() const;
};

/// Throws Error, with file and line, for a weight that is no finite number, for an id that returns, and if words and
/// weights differ in number: "gold.tsv:17: got ...".
GoldWeights read_gold_weights(const GoldTableOptions& options);

}  // namespace heed::cli
