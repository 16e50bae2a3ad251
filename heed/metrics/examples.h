// Shared by the metrics of examples that have a predicted and a gold value: checks of their number.

#pragma once

#include <cstddef>
#include <string>

#include "heed/base/check.h"

namespace heed {

/// Requires at least one example, with a predicted and a gold value each; otherwise an Error.
inline void check_examples(const std::string& metric, size_t predicted, size_t gold) {
  check(predicted == gold, "metrics/", metric, ": got ", predicted, " predicted and ", gold,
        " gold values, expected equal numbers");
  check(gold > 0, "metrics/", metric, ": got no examples, expected at least 1");
}

}  // namespace heed
