// What the options of heed train say.

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
