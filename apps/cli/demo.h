// heed demo: shows what attention is good for, in about a minute.
//
// Trains two translators on the built-in English-Chinese grammar, one with attention and one with a fixed context,
// equal in everything else. Prints BLEU on new sentences by length, and the attention weights of the first translator.
//
// With the task classify, two classifiers of built-in reviews, one with attention and one with the mean of the
// features. Prints accuracy on new reviews and how much of the weight is on the words that decide, which are known.

#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "apps/cli/screen.h"

namespace heed::cli {

struct DemoOptions {
  std::string task = "translate";        // or classify
  std::string mechanism{};               // "": demo_mechanism()
  std::string folder{};                  // "": runs/demo, or runs/demo-classify
  std::vector<std::string> overrides{};  // recipe overrides, for both models
  uint64_t seed = 1;
  bool quiet = false;  // no progress
  /// The file of the program heed: the second model is trained in a process of its own, at the same time. Empty:
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

/// The recipes of the demos, equal to recipes/demo.yaml and recipes/demo-classify.yaml.
extern const char *const kDemoRecipe, *const kClassifyDemoRecipe;

/// Mechanism and folder by default.
inline std::string demo_mechanism(const std::string& task) {
  return task == "classify" ? "self_attentive + softmax" : "additive + softmax";
}
inline std::string demo_folder(const std::string& task) {
  return task == "classify" ? "runs/demo-classify" : "runs/demo";
}

/// Trains, evaluates and prints. Returns the signal that stopped training, or 0.
int run_demo(std::ostream& out, const DemoOptions& options);

}  // namespace heed::cli
