// Helpers for tests of ablations: refusals, and a grid whose runs have finished.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/cli/ablate/plan.h"
#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/data/file.h"
#include "heed/data/testing.h"

namespace heed::testing {

/// Whether the action throws an Error that contains the text.
inline ::testing::AssertionResult refuses(const std::function<void()>& action, const std::string& part) {
  try {
    action();
  } catch (const Error& error) {
    return says(error.what(), {part});
  }
  return ::testing::AssertionFailure() << "nothing was refused";
}

/// Two cells, "a" and "b", with two seeds each and their runs below folder_.
class AblationTest : public FolderTest {
 protected:
  cli::Plan plan_{.recipe = "<recipe>.yaml",
                  .base = "task: classify\n",
                  .overrides = {},
                  .axes = {{"model.attention", {"a", "b"}}},
                  .seeds = {1, 2},
                  .threads = 1,
                  .cells = {{"attention=a", {"a"}}, {"attention=b", {"b"}}}};

  std::string run_folder(const std::string& cell, int seed) const {
    return folder_ + "/attention=" + cell + "/seed-" + std::to_string(seed);
  }
  /// A classifier that is right where `right` has a 1: "1101".
  void finish(const std::string& cell, int seed, const std::string& right, const std::string& more = "") const {
    std::string predictions;
    double count = 0;
    for (const char one : right) {
      predictions += std::string(one == '1' ? "yes" : "no") + "\t0.9\tyes\n";
      count += one == '1' ? 1 : 0;
    }
    const std::string accuracy = std::to_string(count / static_cast<double>(right.size()));
    make_folders(run_folder(cell, seed));
    write_atomically(run_folder(cell, seed) + "/dev.predictions.tsv", predictions);
    write_atomically(run_folder(cell, seed) + "/results.json",
                     R"({"step": 9)" + std::to_string(seed) +
                         R"(, "parameters": 1000, "tokens_per_second": 5000, "peak_memory": 3e8, "device": "cpu", )"
                         R"("threads": 1, "train_seconds": 20, "seed": )" +
                         std::to_string(seed) + R"(, "data": {"data.dev": "0123456789"}, "dev": {"examples": )" +
                         std::to_string(right.size()) + R"(, "labels": "one", "accuracy": )" + accuracy + "}" + more +
                         "}");
  }
};

}  // namespace heed::testing
