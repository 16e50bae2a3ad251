// Weights of people for the words of the texts that are explained: which text of a gold table is which of the set.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/eval_attention_gold.h"

namespace heed::cli {

/// A text of the set.
struct RationaleText {
  std::string id;                  // or file and line: "dev.tsv:17"
  std::vector<std::string> words;  // as the run reads them
};

struct Rationales {
  std::vector<std::vector<double>> weights{};  // [text][word]; empty: none are given
  int64_t found = 0, missing = 0;              // texts of the table that are in the set, and that are not
};

/// Texts are found by id, or by line where the set has no ids; with a column of texts, else by their words.
/// relevant_above: gold weights above it become 1, others 0. Throws Error, with file and line, if the number of words
/// differs, and if no text is found.
Rationales rationales_of(const GoldWeights& gold, const std::vector<RationaleText>& texts, const std::string& file,
                         std::optional<double> relevant_above = std::nullopt);

}  // namespace heed::cli
