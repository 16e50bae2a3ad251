#include "apps/cli/torch/translation_maps.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "heed/base/check.h"

namespace heed::cli {
namespace {

constexpr const char* kEndMarker = "</s>";

}  // namespace

std::vector<HeatMap> translation_maps(Translator& translator, const std::vector<std::string>& sources,
                                      const std::vector<std::string>& targets, int64_t beam) {
  check(translator.model().aligns(),
        "attend: this model has one context for all words, so it looks at none in particular; expected one with "
        "attention");
  TranslateOptions options;
  options.search.beam = beam;
  options.search.weights = true;
  const auto translations =
      targets.empty() ? translator.translate(sources, options) : translator.score(sources, targets);
  std::vector<HeatMap> maps;
  for (const auto& translation : translations) {
    HeatMap map;
    map.title = joined(translation.source_words, " ");
    map.columns = translation.source_words;
    map.rows = translation.target_words;
    map.weights = translation.weights;
    if (!map.columns.empty()) map.columns.emplace_back(kEndMarker);
    for (size_t i = 0; i < map.weights.size(); ++i) map.weights[i].push_back(translation.end_weights[i]);
    maps.push_back(std::move(map));
  }
  return maps;
}

int terminal_columns() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace heed::cli
