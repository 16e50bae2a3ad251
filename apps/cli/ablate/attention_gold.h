// The attention of the runs of a grid against gold: `heed eval RUN --attention GOLD --json` for every finished run.
// What it says is kept in <run>.attention.json, with the gold that it is for.

#pragma once

#include <string>

#include "apps/cli/ablate/grid.h"
#include "apps/cli/ablate/grid_progress.h"
#include "apps/cli/ablate/plan.h"
#include <nlohmann/json_fwd.hpp>

namespace heed::cli {

/// Measures the runs that have not been measured with this gold. gold: the value of --attention, and further options of
/// heed eval after it: "gold.tsv --set dev". Returns the signal that stopped it, or 0. A run that cannot be measured is
/// a line of the progress.
int measure_attention(const Plan& plan, const std::string& folder, const std::string& gold, const GridOptions& options,
                      GridProgress& progress);

/// Figures of a run by name, "correctness": 0.81; AER of links is "aer". Empty if it was not measured.
nlohmann::ordered_json attention_figures(const GridRun& run);

}  // namespace heed::cli
