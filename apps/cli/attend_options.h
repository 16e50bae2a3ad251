// The values of the options of heed attend.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/max_tokens.h"

namespace heed::cli {

struct AttendArguments {
  std::string run, png, html, colors = "auto", device = "auto", attention = "cross", step;
  std::vector<std::string> source, target;
  bool json = false;
  int64_t beam = 5, max_length = kMaxTokens, layer = 0, head = 0;
};

}  // namespace heed::cli
