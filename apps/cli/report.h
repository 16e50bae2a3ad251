// The results of a run as text.

#pragma once

#include <ostream>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace heed::cli {

/// Prints results.json: the metrics of dev and test, with BLEU by source length and AER if present.
void print_results(std::ostream& out, const nlohmann::ordered_json& results);

/// The file name without folder and extension: "recipes/multi30k.yaml" -> "multi30k".
std::string named_after(const std::string& path);

}  // namespace heed::cli
