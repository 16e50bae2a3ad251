// heed demo: shows what attention is good for, in about a minute.
//
// Trains two translators on the built-in English-Chinese grammar, one with attention and one with a fixed context,
// equal in everything else. Prints BLEU on new sentences by length, and the attention weights of the first translator.

#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "apps/cli/screen.h"

namespace heed::cli {

struct DemoOptions {
  std::string mechanism = "additive + softmax";
  std::string folder = "runs/demo";
  std::vector<std::string> overrides{};  // recipe overrides, for both translators
  uint64_t seed = 1;
  bool quiet = false;  // no progress
  /// The file of the program heed: the second translator is trained in a process of its own, at the same time. Empty:
  /// both are trained in this process, one after the other.
  std::string program{};
  Colors colors = Colors::none;
  int columns = 80;  // width of the terminal
};

/// The values of the options of heed demo.
struct DemoArguments {
  DemoOptions options;
  std::string colors = "auto";
};

/// The recipe of the demo, equal to recipes/demo.yaml.
extern const char* const kDemoRecipe;

/// Trains, evaluates and prints. Returns the signal that stopped training, or 0.
int run_demo(std::ostream& out, const DemoOptions& options);

}  // namespace heed::cli
