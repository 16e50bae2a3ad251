// Amounts for people.

#pragma once

#include <string>

namespace heed::cli {

/// "1,234,567"
std::string with_commas(double value);
/// "9.5 s", "41 s", "12.3 min", "2.5 h"
std::string duration(double seconds);
/// "250 MB"
std::string megabytes(double bytes);

}  // namespace heed::cli
