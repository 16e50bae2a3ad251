// Several runs under the same tests: the main figure of each test, a row for each run.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/table.h"
#include <nlohmann/json_fwd.hpp>

#include "heed/data/explanation.h"

namespace heed::cli {

/// The figure that a test is compared by, ExplanationResult::figure; nothing if it has none.
struct MainFigure {
  std::string name;  // "tau"
  ExplanationCell cell;
};
std::optional<MainFigure> main_figure(const ExplanationResult& result);

/// "0.412 [0.398, 0.426]", or the value alone; a text as it is; "-" without a value.
std::string cell_text(const ExplanationCell& cell, bool interval = true);

/// What is different in the names of runs: {"runs/a", "runs/b"} -> "a", "b".
std::vector<std::string> short_run_names(const std::vector<Explanation>& runs);
/// The folder that all runs are in: "runs"; "." if there is none.
std::string common_folder(const std::vector<std::string>& runs);

/// A row for each run with its mechanism, a column for each test that some run has a figure of. After a figure: + for
/// reading the weights as an explanation, - against it.
Table comparison_table(const std::vector<Explanation>& runs);
nlohmann::ordered_json comparison_json(const std::vector<Explanation>& runs);

}  // namespace heed::cli
