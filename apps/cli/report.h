// What resulted from a run, for people.

#pragma once

#include <ostream>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace heed::cli {

/// results.json as lines: one for each set, with BLEU by length and alignment error where they are known.
void print_results(std::ostream& out, const nlohmann::ordered_json& results);

/// "recipes/multi30k.yaml" -> "multi30k"
std::string named_after(const std::string& path);

}  // namespace heed::cli
