#include "apps/cli/eval_files.h"

#include <cmath>

#include "apps/cli/eval_files_report.h"
#include "apps/cli/eval_metric/text_files.h"

#include "heed/base/check.h"
#include "heed/metrics/bleu_tokenizer.h"

namespace heed::cli {
namespace {

ByLength by_source_length(const EvalFilesOptions& options, const TextFiles& texts, FileReader& reader) {
  const auto lines = reader.lines_beside(options.source, options.hypotheses.front(), texts.lines(), "a sentence");
  const auto found = options.source_characters ? sentence_lengths(lines, true) : sentence_lengths(lines);
  return {bleu_by_length(found.lengths, texts.systems.front(), texts.references, options.bleu, options.length_bounds),
          found.characters};
}

void check_systems(const EvalFilesOptions& options) {
  check(options.source.empty() || options.hypotheses.size() == 1, "eval: got --source and ", options.hypotheses.size(),
        " systems, expected one for BLEU by source length");
  const bool of_texts = options.metrics.empty() || FileMetric::find(options.metrics.front()).kind() == TextFiles::kKind;
  check(options.source.empty() || of_texts, "eval: got --source with ", of_texts ? "" : options.metrics.front(),
        ", expected metrics of texts");
  const auto& paired = options.significance.paired;
  check(paired.empty() || paired == "bootstrap" || paired == "randomization", "eval: got --paired ", paired,
        ", expected bootstrap or randomization");
  check(!options.significance.any() || options.links.empty(), "eval: got ",
        options.significance.intervals ? "--intervals" : "--paired",
        " with --links, expected --metrics; for links: ", "--metrics aer --hypothesis LINKS --reference GOLD");
}

/// Throws on invalid options, before any file is read.
void check_options(const EvalFilesOptions& options) {
  check_one_kind(options.metrics);
  const bool outputs = !options.hypotheses.empty(), links = !options.links.empty();
  check(outputs || links, "eval: nothing to evaluate, expected hypotheses and references, or links and gold links");
  check(outputs || (options.references.empty() && options.source.empty()),
        "eval: references or a source without hypotheses, expected a file of hypotheses");
  check(links == !options.gold_links.empty(), "eval: ", links ? "links without gold links" : "gold links without links",
        ", expected both");
  const int digits = options.digits.value_or(0);
  check(digits >= 0 && digits <= 15, "eval: ", digits, " digits, expected 0 to 15");
  check_systems(options);
  bleu_tokenizer(options.bleu.tokenizer);
}

/// The names of the systems: their files, or that of the first where several images are one system.
std::vector<std::string> system_names(const EvalFilesOptions& options, size_t systems) {
  if (systems == options.hypotheses.size()) return options.hypotheses;
  return {options.hypotheses.front() + " and " + std::to_string(options.hypotheses.size() - 1) + " more"};
}

void measure_metrics(const EvalFilesOptions& options, FileReader& reader, Evaluated& all) {
  const auto files = FileMetric::find(options.metrics.front()).read(options, reader);
  for (const auto& name : options.metrics) {
    all.metrics.push_back({FileMetric::find(name).measure(files, options), {}});
    auto& [measured, found] = all.metrics.back();
    all.systems = system_names(options, measured.figures.size());
    check(options.significance.paired.empty() || all.systems.size() > 1, "eval: got --paired ",
          options.significance.paired, " and one system, expected several: --hypothesis baseline.txt other.txt");
    found = significance(measured, options.significance);
  }
}

Provenance origin_of_files(const EvalFilesOptions& options, const FileReader& reader) {
  Provenance origin = provenance();
  origin.data = reader.hashes();
  if (options.significance.any()) origin.seeds.insert(static_cast<int64_t>(options.significance.resampling.seed));
  return origin;
}

}  // namespace

void eval_files(std::ostream& out, const EvalFilesOptions& options) {
  check_options(options);
  FileReader reader(options.read);
  Evaluated all;
  if (!options.hypotheses.empty()) {
    if (!options.metrics.empty()) measure_metrics(options, reader, all);
    if (!options.source.empty()) all.by_length = by_source_length(options, TextFiles(options, reader), reader);
  }
  if (!options.links.empty())
    all.links = link_errors(
        {options.links, options.gold_links, options.links_numbers, options.gold_numbers, options.digits.value_or(2)},
        reader, *options.remarks);
  all.origin = origin_of_files(options, reader);
  options.json ? print_evaluated_json(out, all, options) : print_evaluated(out, all, options);
}

}  // namespace heed::cli
