// What the options of heed align say.

#pragma once

#include <cstdint>
#include <string>

#include "heed/data/max_tokens.h"

namespace heed::cli {

/// Besides the heuristics on links: the strongest pairs of the product of both directions' weights.
inline constexpr const char* kProduct = "product";

struct AlignArguments {
  std::string run, source, target, reverse, symmetry = kProduct, device = "auto";
  double threshold = 0;
  int64_t max_length = kMaxTokens;
};

}  // namespace heed::cli
