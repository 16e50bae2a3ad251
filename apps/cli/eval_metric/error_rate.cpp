// wer, cer, per: error rates of words, characters and phones, equal to jiwer's. Phones may be folded:
//
//   --phone-fold timit      61 phones of TIMIT to the 39 of Lee & Hon (1989)
//   --phone-fold FILE       a phone and what becomes of it on each line; a phone alone is left out

#include "apps/cli/eval_metric/text_files.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/data/text_file.h"
#include "heed/metrics/corpus.h"
#include "heed/metrics/edit_rate.h"
#include "heed/metrics/statistics.h"

namespace heed::cli {
namespace {

constexpr const char* kTimit = "timit";

PhoneFold phone_fold_of(const std::string& spec) {
  if (spec.empty()) return {};
  if (spec == kTimit) return timit_fold();
  PhoneFold fold;
  each_line(spec, [&](std::string_view line, size_t number) {
    const auto phones = parts_of(std::string(line));
    check(phones.size() == 1 || phones.size() == 2, at_line(spec, number - 1), "got '", excerpt(line),
          "', expected a phone and what becomes of it, or a phone alone, which is left out");
    const bool is_new = fold.emplace(phones[0], phones.size() == 2 ? phones[1] : "").second;
    check(is_new, at_line(spec, number - 1), "got the phone '", excerpt(phones[0]), "' again, expected each once");
  });
  return fold;
}

/// How a rate is printed, and what it counts.
struct RateSpec {
  std::string key, name, unit_name;
  EditUnit unit;
};

MetricFigure rate_figure(const EditRate& found, const RateSpec& of, const std::string& fold) {
  std::vector<std::pair<std::string, std::string>> choices{{"case", "mixed"}, {"unit", of.unit_name}};
  if (of.unit == EditUnit::phone) choices.emplace_back("fold", fold.empty() ? "none" : excerpt(fold));
  const EditCounts& counts = found.counts;
  std::ostringstream details;
  details << "(hits = " << counts.hits << " substitutions = " << counts.substitutions
          << " deletions = " << counts.deletions << " insertions = " << counts.insertions << ")";
  return {.key = of.key,
          .name = of.name,
          .signature = signed_as(1, choices),
          .score = found.rate,
          .details = details.str(),
          .more = {{"hits", counts.hits},
                   {"substitutions", counts.substitutions},
                   {"deletions", counts.deletions},
                   {"insertions", counts.insertions},
                   {"reference_length", counts.reference_length()}}};
}

Measured measure_rate(const TextFiles& files, const RateSpec& of, const std::string& fold_spec) {
  check_one_reference(of.key, files.references.size());
  const PhoneFold fold = phone_fold_of(of.unit == EditUnit::phone ? fold_spec : "");
  Measured all{.unit = "sentences", .items = files.lines()};
  std::vector<EditRate> found;
  for (const auto& hypotheses : files.systems) {
    found.push_back(edit_rate(hypotheses, files.references.front(), of.unit, fold));
    all.figures.push_back(rate_figure(found.back(), of, fold_spec));
  }
  all.resampled = [found = std::move(found)] {
    std::vector<Statistics> systems;
    for (const auto& one : found) systems.push_back(statistics(one));
    return resampled(systems);
  };
  return all;
}

Measured measure_wer(const TextFiles& files, const FileMetricOptions&) {
  return measure_rate(files, {"wer", "WER", "word", EditUnit::word}, "");
}

Measured measure_cer(const TextFiles& files, const FileMetricOptions&) {
  return measure_rate(files, {"cer", "CER", "character", EditUnit::character}, "");
}

Measured measure_per(const TextFiles& files, const FileMetricOptions& options) {
  return measure_rate(files, {"per", "PER", "phone", EditUnit::phone}, options.phone_fold);
}

const FileMetric wer_metric{"wer", measure_wer};
const FileMetric cer_metric{"cer", measure_cer};
const FileMetric per_metric{"per", measure_per};

}  // namespace
}  // namespace heed::cli
