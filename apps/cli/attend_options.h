// The values of the options of heed attend.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/max_tokens.h"

namespace heed::cli {

struct AttendArguments {
  std::string run, png, html, colors = "auto", device = "auto", attention = "cross", step;
  std::vector<std::string> source, target, text;
  std::string call;
  std::vector<std::string> of_translators{};  // given options that only translators have
  bool json = false;
  int64_t beam = 5, max_length = kMaxTokens, layer = 0, head = 0;
};

}  // namespace heed::cli
