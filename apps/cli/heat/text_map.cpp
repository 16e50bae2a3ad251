#include "apps/cli/heat/text_map.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"

namespace heed::cli {
namespace {

/// The larger one; a NaN is not.
double larger(double top, double weight) {
  return std::isfinite(weight) && weight > top ? weight : top;
}

}  // namespace

std::string titled(const TextMap& map) {
  const std::string remark = map.remark.empty() ? "" : "(" + map.remark + ")";
  return map.title + (map.title.empty() || remark.empty() ? "" : " ") + remark;
}

void check_text_map(const TextMap& map) {
  for (const auto& part : map.parts)
    check(part.weights.empty() || part.weights.size() == part.words.size(), "text map: got ", part.weights.size(),
          " weights for ", part.words.size(), " words, expected one for each");
}

TopWeights top_weights(const TextMap& map) {
  double words = 0, parts = 0;
  for (const auto& part : map.parts) {
    for (const double weight : part.weights) words = larger(words, weight);
    parts = larger(parts, part.weight.value_or(0));
  }
  return {.words = words > 0 ? words : 1, .parts = parts > 0 ? parts : 1};
}

std::string percent_of(double weight, double top) {
  constexpr double kSmall = 0.1;
  if (std::isnan(weight)) return "nan";
  const auto text = fixed(100 * weight, top < kSmall ? 1 : 0);
  return text == "0" || text == "0.0" ? "" : text;
}

std::string label_of(const TextPart& part) {
  if (!part.weight) return part.label;
  constexpr double kSmall = 0.1;
  return part.label + (part.label.empty() ? "" : ": ") + fixed(100 * *part.weight, *part.weight < kSmall ? 1 : 0) +
         " %";
}

TextMap with_printable_text(TextMap map) {
  map.title = printable(map.title);
  map.remark = printable(map.remark);
  map.note = printable(map.note);
  for (auto& part : map.parts) {
    part.label = printable(part.label);
    for (auto& word : part.words) word = printable(word);
  }
  return map;
}

}  // namespace heed::cli
