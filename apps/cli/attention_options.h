// The options of heed eval RUN --attention GOLD.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace heed::cli {

/// Which columns of a table have what, by name or number from 1.
struct GoldTableOptions {
  std::string file;
  std::string id_column = "1", gold_column;  // gold_column empty: the last one
  std::string text_column;                   // empty: the texts are those of the run's set, found by id
  bool word_rows = false;                    // a record is a word, and records with the same id are a text
  std::string strip_suffix;                  // removed from the end of a word: "<EOS>"
};

struct EvalAttentionArguments {
  std::string run, device = "auto";
  std::vector<std::string> overrides;
  GoldTableOptions table;
  std::string set = "test";
  std::optional<double> relevant_above{};  // gold weights above it are relevant; none: if all are 0 or 1
  std::vector<std::string> controls{"length", "frequency"};
  std::vector<std::string> agree;  // other runs
  std::string reverse;             // a run in the other direction
  bool links_from_one = false, swapped = false;
  int64_t overlap_words = 5, samples = 1000, seed = 1;
  bool json = false;
};

/// Adds the options to heed eval. Returns --attention, which the others need.
CLI::Option* add_attention_options(CLI::App& command, EvalAttentionArguments& a);

}  // namespace heed::cli
