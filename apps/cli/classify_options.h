// The values of the options of heed classify.

#pragma once

#include <cstdint>
#include <string>

namespace heed::cli {

struct ClassifyArguments {
  std::string run, device = "auto";
  int64_t lines = 0;
  bool attend = false, json = false;
};

}  // namespace heed::cli
