// The values of the options of heed align.

#pragma once

#include <cstdint>
#include <string>

#include "heed/data/max_tokens.h"

namespace heed::cli {

/// --symmetry product: links the mutually strongest pairs of the product of both directions' weights. The other choices
/// are heuristics on links (heed/base/links.h).
inline constexpr const char* kProduct = "product";

struct AlignArguments {
  std::string run, source, target, reverse, symmetry = kProduct, device = "auto";
  double threshold = 0;
  int64_t max_length = kMaxTokens;
};

}  // namespace heed::cli
