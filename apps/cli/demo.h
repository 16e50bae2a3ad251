// heed demo: the argument for attention, in about a minute.
//
// Two translators learn the built-in English-Chinese grammar: one with attention, one with a fixed context, alike in
// everything else. What they make of new sentences is shown by length, and what the first one looks at.

#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "apps/cli/screen.h"

namespace heed::cli {

struct DemoOptions {
  std::string mechanism = "additive + softmax";
  std::string folder = "runs/demo";
  std::vector<std::string> overrides{};  // of the recipe, for both
  uint64_t seed = 1;
  bool quiet = false;  // no progress
  Colors colors = Colors::none;
  int columns = 80;  // of the terminal
};

/// What the options of heed demo say.
struct DemoArguments {
  DemoOptions options;
  std::string colors = "auto";
};

/// The recipe of the demo, recipes/demo.yaml.
extern const char* const kDemoRecipe;

/// False where the user interrupted it.
bool run_demo(std::ostream& out, const DemoOptions& options);

}  // namespace heed::cli
