// The values of the options of heed eval.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/eval_files.h"

namespace heed::cli {

struct EvalArguments {
  std::string run, device = "auto";
  std::vector<std::string> overrides;
  bool json = false;
  EvalFilesOptions files;
};

}  // namespace heed::cli
