// chrf, chrf++: F-scores of character n-grams of texts, as sacreBLEU prints them.

#include "heed/metrics/chrf.h"

#include "apps/cli/eval_metric/text_files.h"

#include "heed/metrics/statistics.h"

namespace heed::cli {
namespace {

Measured measure_chrf(const TextFiles& files, const ChrfOptions& of) {
  Measured all{.unit = "sentences", .items = files.lines()};
  std::vector<Chrf> found;
  for (const auto& hypotheses : files.systems) {
    found.push_back(chrf(hypotheses, files.references, of));
    all.figures.push_back({.key = of.word_order == 0 ? "chrf" : "chrf++",
                           .name = chrf_name(of),
                           .signature = signature(of, files.references.size()),
                           .score = found.back().score,
                           .digits = 2});
  }
  all.resampled = [found = std::move(found), of] {
    std::vector<Statistics> systems;
    for (const auto& one : found) systems.push_back(statistics(one, of));
    return resampled(systems);
  };
  return all;
}

Measured measure_chrf_of_characters(const TextFiles& files, const FileMetricOptions& options) {
  return measure_chrf(files, {.lowercase = options.bleu.lowercase});
}

Measured measure_chrf_of_words_too(const TextFiles& files, const FileMetricOptions& options) {
  return measure_chrf(files, {.word_order = 2, .lowercase = options.bleu.lowercase});
}

const FileMetric chrf_metric{"chrf", measure_chrf_of_characters};
const FileMetric chrf_plus_metric{"chrf++", measure_chrf_of_words_too};

}  // namespace
}  // namespace heed::cli
