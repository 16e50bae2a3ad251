// Numbers of reports.

#pragma once

#include <string>

namespace heed::cli {

/// "0.412", "12", "25,000", "3.1e-05"; never the name of a number that is not finite, which is "-".
std::string number_text(double value);

}  // namespace heed::cli
