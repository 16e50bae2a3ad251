#include "heed/data/labeled/label_column.h"

#include <cmath>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/scalar.h"
#include "heed/data/tokenizer/spec.h"

namespace heed {

LabelColumn read_label_column(const std::string& written) {
  const std::string prefix = "mean(";
  if (written.rfind(prefix, 0) != 0 || written.back() != ')') return {.from = written};
  LabelColumn column{.from = written.substr(prefix.size(), written.size() - prefix.size() - 1), .mean = true};
  check(!column.from.empty(), "data/examples: got label '", excerpt(written),
        "', expected the name or the number of a column, as in mean(3)");
  return column;
}

std::string label_of(const LabelColumn& column, const std::string& field, const std::string& origin) {
  const auto parts = whitespace_words(field);
  if (!column.mean) return joined(parts, " ");
  double sum = 0;
  for (const auto& part : parts) {
    double value = 0;
    check(read_number(part, value) && std::isfinite(value), "data/examples: ", origin, ": got '", excerpt(part),
          "' in the label, expected numbers separated by blanks, whose mean is taken");
    sum += value;
  }
  check(!parts.empty(), "data/examples: ", origin, ": got an empty label, expected numbers, whose mean is taken");
  return written_number(sum / static_cast<double>(parts.size()));
}

}  // namespace heed
