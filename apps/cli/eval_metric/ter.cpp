// ter: translation edit rate of texts, as sacreBLEU prints it.

#include "heed/metrics/ter.h"

#include "apps/cli/eval_metric/text_files.h"

#include "heed/base/check.h"
#include "heed/metrics/statistics.h"
#include "heed/metrics/text.h"

namespace heed::cli {
namespace {

/// TER searches for phrase shifts repeatedly: its time grows with the cube of the line length.
void check_ter_lengths(const std::vector<std::string>& paths, const std::vector<Sentences>& texts) {
  constexpr size_t kMaxWords = 3000;
  for (size_t file = 0; file < texts.size(); ++file)
    for (size_t i = 0; i < texts[file].size(); ++i) {
      const size_t words = texts[file][i].size() <= kMaxWords ? 0 : split_words(texts[file][i]).size();
      check(words <= kMaxWords, at_line(paths[file], i), "got ", words, " words, expected at most ", kMaxWords,
            " for TER; break the line into sentences, or leave ter out of --metrics");
    }
}

Measured measure_ter(const TextFiles& files, const FileMetricOptions& options) {
  check_ter_lengths(options.hypotheses, files.systems);
  check_ter_lengths(options.references, files.references);
  Measured all{.unit = "sentences", .items = files.lines()};
  std::vector<Ter> found;
  for (const auto& hypotheses : files.systems) {
    found.push_back(ter(hypotheses, files.references, options.ter));
    all.figures.push_back({.key = "ter",
                           .name = "TER",
                           .signature = signature(options.ter, files.references.size()),
                           .score = found.back().score,
                           .more = {{"edits", found.back().edits}, {"reference_length", found.back().reference_length}},
                           .digits = 2});
  }
  all.resampled = [found = std::move(found)] {
    std::vector<Statistics> systems;
    for (const auto& one : found) systems.push_back(statistics(one));
    return resampled(systems);
  };
  return all;
}

const FileMetric ter_metric{"ter", measure_ter};

}  // namespace
}  // namespace heed::cli
