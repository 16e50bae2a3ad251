// The values of the options of heed train.

#pragma once

#include <string>
#include <vector>

namespace heed::cli {

struct TrainArguments {
  std::string recipe;
  std::vector<std::string> overrides;
  bool resume = false, force = false, json = false, quiet = false;
};

}  // namespace heed::cli
