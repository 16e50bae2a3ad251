// heed demo: a mechanism learns a dozen word pairs before your eyes, then shows what it attends to.
//
// Sentences are random words, their translations the same words in another order. The query is the embedding of a
// target word, the keys those of the source words, the values what the source words mean (fixed and orthonormal).
// The context of a target word shall be its meaning, so the weights have to find its source word; nobody tells
// them where it stands.

#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "apps/cli/screen.h"

namespace heed::cli {

struct DemoOptions {
  std::string mechanism = "additive + softmax";
  int64_t steps = 300;
  uint64_t seed = 1;
  Colours colours = Colours::none;
};

void run_demo(std::ostream& out, const DemoOptions& options);

}  // namespace heed::cli
