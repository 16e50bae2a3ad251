// The models that tests need besides the run: its recipe with other values of some keys, trained by `heed train` in
// folders of their own, <run>/explain/<name>. One whose overrides name the folder of another one is trained after it.
// <name>.variant.json next to a folder says what it was trained from; where that is another recipe or another model, it
// is trained anew.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/cli/ablate/grid_progress.h"

namespace heed::cli {

struct VariantCall {
  std::string run;                                             // absolute path
  std::map<std::string, std::vector<std::string>> variants{};  // name -> overrides
  std::vector<std::string> overrides{};  // of all, that say where data and devices are and change no result
  std::string working_folder{};          // that relative paths of the recipe are in; "": the current one
  std::string program{};                 // the file of heed
  int threads = 1, jobs = 0;
  bool retry = false;  // also those that failed before
};

struct VariantOutcome {
  std::map<std::string, std::string> folders{};   // of those that are trained
  std::map<std::string, std::string> failures{};  // of the others: why they are not
  int signal = 0;                                 // that stopped it; then some are in neither
};

/// Trains what is not trained.
VariantOutcome train_variants(const VariantCall& call, GridProgress& progress);

/// The folder that a run was trained from, which relative paths of its recipe are in; "" if it is not known.
std::string training_folder_of(const std::string& run);
/// The override that finds the data of a run where its recipe's relative paths do not: data.root=<absolute path>; or
/// none. overrides: of the user, which come first.
std::vector<std::string> root_override(const std::string& run, const std::vector<std::string>& overrides);

}  // namespace heed::cli
