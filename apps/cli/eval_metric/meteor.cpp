// meteor: METEOR of texts, as NLTK 3.8.1 computes it. The signature names the stages that ran: that of synonyms needs
// WordNet's files.

#include "heed/metrics/meteor.h"

#include "apps/cli/eval_metric/text_files.h"

#include "heed/base/check.h"
#include "heed/metrics/statistics.h"

namespace heed::cli {
namespace {

MetricFigure meteor_figure(const Meteor& found, const MeteorOptions& of, size_t references) {
  MetricFigure figure{.key = "meteor", .name = "METEOR", .signature = signature(of, references), .score = found.score};
  std::vector<std::string> matches;
  for (size_t stage = 0; stage < found.stages.size(); ++stage) {
    matches.push_back(found.stages[stage] + " = " + std::to_string(found.matches[stage]));
    figure.more["matches"][found.stages[stage]] = found.matches[stage];
  }
  figure.details = "(matches: " + joined(matches, " ") + ")";
  figure.more["stages"] = found.stages;
  return figure;
}

Measured measure_meteor(const TextFiles& files, const FileMetricOptions&) {
  std::optional<WordNet> wordnet;
  if (const auto folder = wordnet_folder()) wordnet.emplace(*folder);
  const MeteorOptions of{.wordnet = wordnet ? &*wordnet : nullptr};
  Measured all{.unit = "sentences", .items = files.lines()};
  std::vector<Meteor> found;
  for (const auto& hypotheses : files.systems) {
    found.push_back(meteor(hypotheses, files.references, of));
    all.figures.push_back(meteor_figure(found.back(), of, files.references.size()));
  }
  all.resampled = [found = std::move(found)] {
    std::vector<Statistics> systems;
    for (const auto& one : found) systems.push_back(statistics(one));
    return resampled(systems);
  };
  return all;
}

const FileMetric meteor_metric{"meteor", measure_meteor};

}  // namespace
}  // namespace heed::cli
