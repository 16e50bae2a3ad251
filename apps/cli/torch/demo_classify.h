// heed demo --task classify.

#pragma once

#include <ostream>

#include "apps/cli/demo.h"

namespace heed::cli {

/// Trains two classifiers of the built-in reviews, evaluates and prints. Returns the signal that stopped training, or
/// 0.
int run_classify_demo(std::ostream& out, const DemoOptions& options);

}  // namespace heed::cli
