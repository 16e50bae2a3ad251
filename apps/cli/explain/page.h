// The report of heed explain: one HTML file that fetches nothing and needs no script.

#pragma once

#include <string>
#include <vector>

#include "heed/data/explanation.h"

namespace heed::cli {

/// Of one run, or of several next to each other. It knows no test: all that it shows is in the explanations.
std::string explanation_page(const std::vector<Explanation>& runs);

}  // namespace heed::cli
