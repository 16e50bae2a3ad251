// The values of the options of heed explain.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/attention_options.h"

namespace heed::cli {

struct ExplainArguments {
  std::vector<std::string> runs, overrides;
  std::string tests = "all", set = "dev", device = "auto", out;
  int64_t texts = 0, seed = 1;  // texts: that are drawn; 0: all
  GoldTableOptions rationales;  // without a file: those of the set, if it has any
  std::optional<double> relevant_above{};
  int64_t seeds = 3;
  std::vector<double> lambdas{0, 0.001, 0.01};
  int jobs = 0;
  bool json = false, retry = false, again = false;
};

/// Sorts what is given into folders and overrides: a folder is a run, whatever its name; of the rest key.path=value is
/// an override.
void sort_words(const std::vector<std::string>& words, ExplainArguments& a);

}  // namespace heed::cli
