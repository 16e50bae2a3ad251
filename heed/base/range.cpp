#include "heed/base/range.h"

#include <cmath>
#include <limits>

#include "heed/base/scalar.h"
#include "heed/base/settings.h"

namespace heed {
namespace {

struct Bound {
  bool open;
  std::string text;
};

/// below(1) is shown as the exclusive bound 1: the adjacent double has fewer digits.
Bound bound_of(double value, double outside) {
  const std::string closed = written_number(value), open = written_number(outside);
  return open.size() < closed.size() ? Bound{true, open} : Bound{false, closed};
}

}  // namespace

std::string written_range(const std::string& name, double min, double max) {
  const Bound low = bound_of(min, below(min)), high = bound_of(max, above(max));
  std::string upper = std::isfinite(max) ? name + (high.open ? " < " : " <= ") + high.text : name;
  if (!std::isfinite(min)) return upper;
  if (!std::isfinite(max)) return name + (low.open ? " > " : " >= ") + low.text;
  return low.text + (low.open ? " < " : " <= ") + upper;
}

std::string written_range(const std::string& name, int64_t min, int64_t max) {
  if (min == Settings::kMin) return name + " <= " + std::to_string(max);
  if (max == Settings::kMax) return name + " >= " + std::to_string(min);
  return std::to_string(min) + " <= " + name + " <= " + std::to_string(max);
}

}  // namespace heed
