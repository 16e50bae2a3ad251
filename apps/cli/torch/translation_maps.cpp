#include "apps/cli/torch/translation_maps.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/scalar.h"

namespace heed::cli {
namespace {

/// Explains equal weights; empty if the model computes its weights.
std::string remark_on_equal_weights(const TranslationModel& model) {
  if (!model.attention().has_weights())
    return "no attention: one context for all words; the equal weights are drawn, not computed";
  return model.aligns() ? "" : "no attention: every source token has the same weight";
}

}  // namespace

StepRange parse_steps(const std::string& text) {
  const size_t dash = text.find('-');
  StepRange steps;
  const bool fine = read_integer(text.substr(0, dash), steps.from) &&
                    (dash == std::string::npos || read_integer(text.substr(dash + 1), steps.to));
  if (dash == std::string::npos) steps.to = steps.from;
  check(fine && steps.from >= 1 && steps.to >= steps.from, "--step: got '", excerpt(text),
        "', expected a number from 1 on, such as 3, or a range, such as 2-4");
  return steps;
}

AttentionMap with_steps(AttentionMap map, const StepRange& steps) {
  const int64_t rows = std::ssize(map.rows);
  if (steps.to == 0) return map;
  check(steps.to <= rows, "attend: got step ", steps.from > rows ? steps.from : steps.to, ", expected ",
        rows == 0   ? "none, as there are no words"
        : rows == 1 ? "1"
                    : "1 to " + std::to_string(rows),
        " for '", excerpt(joined(map.rows, " ")), "'");
  map.rows = {map.rows.begin() + steps.from - 1, map.rows.begin() + steps.to};
  map.weights = {map.weights.begin() + steps.from - 1, map.weights.begin() + steps.to};
  return map;
}

std::string described(const AttentionMap& map, AttentionKind kind) {
  const auto of = [](int64_t number, int64_t count) { return std::to_string(number) + " of " + std::to_string(count); };
  std::string text = kind == AttentionKind::cross     ? "cross-attention"
                     : kind == AttentionKind::encoder ? "self-attention of the encoder"
                                                      : "self-attention of the decoder";
  if (map.layers > 1) text += ", layer " + of(map.layer, map.layers);
  if (map.heads > 1)
    text += map.head > 0 ? ", head " + of(map.head, map.heads) : ", mean of " + std::to_string(map.heads) + " heads";
  return text;
}

HeatMap heat_map_of(const AttentionMap& map, const TranslationModel& model, AttentionKind kind) {
  HeatMap heat;
  heat.title = joined(kind == AttentionKind::decoder ? map.target_words : map.source_words, " ");
  if (map.layers > 0 && kind == AttentionKind::cross) heat.remark = remark_on_equal_weights(model);
  if (heat.remark.empty() && (map.layers > 1 || map.heads > 1 || kind != AttentionKind::cross))
    heat.remark = described(map, kind);
  if (kind == AttentionKind::encoder) heat.row_name = "source";
  if (kind == AttentionKind::decoder) heat.column_name = "target";
  heat.columns = map.columns;
  heat.rows = map.rows;
  heat.weights = map.weights;
  return heat;
}

std::vector<HeatMap> translation_maps(Translator& translator, const std::vector<std::string>& sources, int64_t beam) {
  std::vector<HeatMap> maps;
  for (const auto& map : attention_maps(translator, sources, {}, {.beam = beam}))
    maps.push_back(heat_map_of(map, translator.model(), AttentionKind::cross));
  return maps;
}

int terminal_columns() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace heed::cli
