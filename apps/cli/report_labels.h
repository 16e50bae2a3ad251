// The results of a classifier on one set, as text.

#pragma once

#include <ostream>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace heed::cli {

/// Prints figures, those of each class, and the confusion matrix of up to 20 classes.
void print_labeled_set(std::ostream& out, const std::string& name, const nlohmann::ordered_json& set);

}  // namespace heed::cli
