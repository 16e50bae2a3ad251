// Plots of an ablation as SVG, without scripts or fonts of their own. Colors are those of the page (CSS variables).

#pragma once

#include <string>

#include "apps/cli/ablate/summary.h"

namespace heed::cli {

/// The quality of every cell that has one: a dot for the mean, a line for the interval over seeds, a tick for each
/// seed. Full dots differ from the first row (CellSummary::differs_from_first). Empty if no run has finished.
std::string quality_plot(const AblationSummary& summary);

/// Quality against tokens/s; cells have the number of their row.
std::string speed_plot(const AblationSummary& summary);

}  // namespace heed::cli
