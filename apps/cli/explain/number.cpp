#include "apps/cli/explain/number.h"

#include <cmath>
#include <sstream>

#include "apps/cli/amount_text.h"
#include "apps/cli/screen.h"

namespace heed::cli {

std::string number_text(double value) {
  constexpr double kTiny = 0.0005, kLarge = 1e3, kHuge = 1e7;
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < kTiny || size >= kHuge) {
    std::ostringstream text;
    text.precision(2);
    text << value;
    return text.str();
  }
  if (size < kLarge) return fixed(value, size > 1 && value == std::round(value) ? 0 : 3);
  return (value < 0 ? "-" : "") + with_commas(std::round(size));
}

}  // namespace heed::cli
