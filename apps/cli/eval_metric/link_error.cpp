// aer: alignment error rate of word links in Pharaoh format, of one system or several.

#include "apps/cli/eval_metric/link_files.h"
#include "apps/cli/eval_metric/text_files.h"

#include "heed/base/check.h"
#include "heed/metrics/alignment_error.h"

namespace heed::cli {
namespace {

/// Counts of each sentence pair; the error of their sum.
Statistics link_statistics(const std::vector<Links>& links, const std::vector<Links>& gold) {
  Statistics all{{}, [](const std::vector<double>& sum) { return sum[1] == 0 ? 0 : 1 - sum[0] / sum[1]; }};
  for (size_t i = 0; i < gold.size(); ++i) {
    const AlignmentError one = alignment_error({links[i]}, {gold[i]});
    all.rows.push_back(
        {static_cast<double>(one.sure_hits + one.possible_hits), static_cast<double>(one.links + one.sure)});
  }
  return all;
}

Measured measure_aer(const LinkFiles& files, const FileMetricOptions&) {
  Measured all{.unit = "sentences", .items = files.gold.size()};
  for (const auto& links : files.systems) {
    const AlignmentError found = alignment_error(links, files.gold);
    all.figures.push_back({.key = "aer",
                           .name = "AER",
                           .signature = signature_of({}),
                           .score = found.error,
                           .details = "(links = " + std::to_string(found.links) +
                                      " sure = " + std::to_string(found.sure) +
                                      " possible = " + std::to_string(found.possible) + ")",
                           .more = {{"precision", found.precision},
                                    {"recall", found.recall},
                                    {"links", found.links},
                                    {"sure", found.sure},
                                    {"possible", found.possible},
                                    {"sure_hits", found.sure_hits},
                                    {"possible_hits", found.possible_hits}}});
  }
  all.resampled = [&files] {
    std::vector<Statistics> systems;
    for (const auto& links : files.systems) systems.push_back(link_statistics(links, files.gold));
    return resampled(systems);
  };
  return all;
}

const FileMetric aer_metric{"aer", measure_aer};

}  // namespace

std::vector<Links> links_of_lines(const std::string& path, const std::vector<std::string>& lines, LinkNumbers numbers) {
  std::vector<Links> all;
  for (const auto& line : lines) {
    try {
      all.push_back(parse_links(line, numbers));
    } catch (const Error& error) {
      fail("eval: ", path, ", line ", all.size() + 1, ": ", error.what());
    }
  }
  return all;
}

LinkFiles::LinkFiles(const FileMetricOptions& options, FileReader& reader) {
  check_one_reference("links", options.references.size());
  const auto lines = read_lines_of(options, reader, "links");
  gold = links_of_lines(options.references.front(), lines.references.front(), options.gold_numbers);
  for (size_t i = 0; i < lines.systems.size(); ++i)
    systems.push_back(links_of_lines(options.hypotheses[i], lines.systems[i], options.links_numbers));
}

}  // namespace heed::cli
