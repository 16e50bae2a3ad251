// What the options of heed attend say.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/max_tokens.h"

namespace heed::cli {

struct AttendArguments {
  std::string run, png, html, colors = "auto", device = "auto";
  std::vector<std::string> source, target;
  bool json = false;
  int64_t beam = 5, max_length = kMaxTokens;
};

}  // namespace heed::cli
