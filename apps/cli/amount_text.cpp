#include "apps/cli/amount_text.h"

#include <cstdint>

#include "apps/cli/screen.h"

namespace heed::cli {

std::string with_commas(double value) {
  std::string digits = fixed(value, 0);
  for (int64_t i = static_cast<int64_t>(digits.size()) - 3; i > 0; i -= 3) digits.insert(static_cast<size_t>(i), ",");
  return digits;
}

std::string duration(double seconds) {
  if (seconds < 100) return fixed(seconds, seconds < 10 ? 1 : 0) + " s";
  return seconds < 6000 ? fixed(seconds / 60, 1) + " min" : fixed(seconds / 3600, 1) + " h";
}

std::string megabytes(double bytes) {
  return fixed(bytes / 1e6, 0) + " MB";
}

}  // namespace heed::cli
