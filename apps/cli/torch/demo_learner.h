// The two models that a demo trains and compares.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/cli/demo.h"

#include "heed/train/trainer.h"

namespace heed::cli {

struct Learner {
  std::string name, attention;  // name in the output; model.attention of the recipe
  TrainResult result{};
};

/// Trains two models by the recipe, at the same time if options.program names the program. `done` is called for each,
/// in order. Returns the signal that stopped training, or 0.
int learn_both(const char* recipe, std::vector<Learner>& learners, const DemoOptions& options,
               const std::function<void(const Learner&)>& done);

/// Name of a run: the score, and the alignment unless it is softmax. Throws Error if the spec is not one of a
/// mechanism.
std::string short_name(const std::string& mechanism);

}  // namespace heed::cli
