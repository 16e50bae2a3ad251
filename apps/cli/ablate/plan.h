// The plan of an ablation: the recipe, what is varied, and the folder of every cell. It is kept in plan.json of the
// ablation's folder, which is written whole or not at all; a later call with the same plan goes on, one with more
// values or seeds extends the grid, and any other one is refused by name of what differs.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/ablate/vary.h"

namespace heed::cli {

struct Cell {
  std::string name;                 // its folder
  std::vector<std::string> values;  // of the axes
  bool operator==(const Cell&) const = default;
};

struct Plan {
  std::string recipe;  // path, as given
  std::string base;    // the recipe with its overrides, as YAML
  std::vector<std::string> overrides;
  std::vector<Axis> axes;
  std::vector<int64_t> seeds;
  int threads = 1;  // of each run
  std::vector<Cell> cells;
  bool operator==(const Plan&) const = default;
};

/// The plan of a call. Reads the recipe.
Plan make_plan(const std::string& recipe, const std::vector<std::string>& overrides, const std::vector<Axis>& axes,
               const std::vector<int64_t>& seeds, int threads);

/// What differs between a plan and that of the folder, one sentence each. Additional values and seeds are no
/// difference.
std::vector<std::string> differences(const Plan& ours, const Plan& in_folder);
/// A plan without differences, with the cells of the folder under the names that they have there.
Plan continued(Plan ours, const Plan& in_folder);

/// The plan of a folder, or nothing if it has none. A damaged file is an Error.
std::optional<Plan> read_plan(const std::string& folder);
void write_plan(const std::string& folder, const Plan& plan);

/// One training of the grid.
struct GridRun {
  size_t cell = 0;
  int64_t seed = 1;
  std::string folder;  // of the run; folder + ".log": what heed train printed
  std::string title;   // "score=dot, seed 2"
};

/// All runs: every cell with the first seed, then with the second, so that a cell that fails shows early.
std::vector<GridRun> runs_of(const Plan& plan, const std::string& folder);
/// The overrides that make a run out of the recipe of the folder.
std::vector<std::string> overrides_of(const Plan& plan, const GridRun& run);
/// The recipe of the folder, from which all runs start.
std::string recipe_path(const std::string& folder);

}  // namespace heed::cli
