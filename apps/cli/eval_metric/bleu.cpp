// bleu: BLEU of texts, as sacreBLEU prints it.

#include "apps/cli/eval_metric/text_files.h"

#include "heed/metrics/bleu_tokenizer.h"
#include "heed/metrics/statistics.h"

namespace heed::cli {
namespace {

MetricFigure bleu_figure(const Sentences& hypotheses, const std::vector<Sentences>& references,
                         const BleuOptions& options) {
  const Bleu found = bleu(hypotheses, references, options);
  const BleuCounts& counts = found.counts;
  return {.key = "bleu",
          .name = "BLEU",
          .signature = signature(options, references.size()),
          .score = found.score,
          .details = details(found),
          .more = {{"precisions", found.precisions},
                   {"matches", counts.matches},
                   {"totals", counts.totals},
                   {"brevity_penalty", found.brevity_penalty},
                   {"hypothesis_length", counts.hypothesis_length},
                   {"reference_length", counts.reference_length}},
          .digits = 2};
}

Measured measure_bleu(const TextFiles& files, const FileMetricOptions& options) {
  Measured all{.unit = "sentences", .items = files.lines()};
  for (const auto& hypotheses : files.systems)
    all.figures.push_back(bleu_figure(hypotheses, files.references, options.bleu));
  all.resampled = [&files, of = options.bleu] {
    std::vector<Statistics> systems;
    for (const auto& hypotheses : files.systems) systems.push_back(bleu_statistics(hypotheses, files.references, of));
    return resampled(systems);
  };
  return all;
}

const FileMetric bleu_metric{"bleu", measure_bleu};

}  // namespace
}  // namespace heed::cli
