// The page of an ablation: plots and table in one HTML file that fetches nothing.

#pragma once

#include <string>

#include "apps/cli/ablate/summary.h"

namespace heed::cli {

std::string ablation_page(const AblationSummary& summary);

}  // namespace heed::cli
