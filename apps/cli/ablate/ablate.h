// heed ablate: trains a recipe with other values of its keys, and compares what comes out.

#pragma once

#include <string>
#include <vector>

namespace heed::cli {

struct AblateArguments {
  std::string recipe;
  std::vector<std::string> overrides, vary;
  std::string seeds = "3", folder, table, attention;
  int jobs = 0;
  bool dry_run = false, json = false, retry = false;
};

/// Returns the exit code: 0 if every run has finished, or in a dry run no cell is refused; 1 if some failed or their
/// attention could not be measured, 128 + the signal that stopped it.
int run_ablate(const AblateArguments& arguments);

}  // namespace heed::cli
