// The values of the options of heed translate.

#pragma once

#include <cstdint>
#include <string>

#include "heed/data/max_tokens.h"

namespace heed::cli {

struct TranslateArguments {
  std::string run, align, device = "auto", length_normalization = "gnmt";
  double length_penalty = 1;
  int64_t beam = 5, lines = 0, max_length = kMaxTokens;
  bool scores = false;
};

}  // namespace heed::cli
