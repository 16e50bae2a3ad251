#include "heed/models/translate/length_normalization.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"

namespace heed {

std::vector<std::string> length_normalizations() {
  return {"gnmt", "length"};
}

LengthNormalization length_normalization(const std::string& name) {
  const auto names = length_normalizations();
  const auto found = std::find(names.begin(), names.end(), name);
  check(found != names.end(), "search: length normalization is '", name, "', expected ", joined(names, " or "));
  return static_cast<LengthNormalization>(found - names.begin());
}

double length_divisor(LengthNormalization normalization, int64_t length, double alpha) {
  const auto n = static_cast<double>(length);
  return std::pow(normalization == LengthNormalization::gnmt ? (5 + n) / 6 : n, alpha);
}

}  // namespace heed
