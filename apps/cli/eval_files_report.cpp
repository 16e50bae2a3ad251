#include "apps/cli/eval_files_report.h"

#include <algorithm>
#include <cmath>

#include "apps/cli/screen.h"

namespace heed::cli {
namespace {

using nlohmann::ordered_json;

std::string bucket_range(const LengthBucket& bucket) {
  return std::to_string(bucket.shortest) + " to " + std::to_string(bucket.longest);
}

std::string score_text(const MetricFigure& figure, const EvalFilesOptions& options) {
  if (std::isnan(figure.score)) return "no score";
  if (std::isinf(figure.score)) return "infinite";
  return fixed(figure.score, options.digits.value_or(figure.digits));
}

void print_by_length(std::ostream& out, const ByLength& found, int digits) {
  if (!found.buckets.empty())
    out << padded_left(found.characters ? "source characters" : "source words", 17) << padded_left("sentences", 12)
        << padded_left("BLEU", 9) << '\n';
  for (const auto& bucket : found.buckets)
    out << padded_left(bucket_range(bucket), 17) << padded_left(std::to_string(bucket.sentences), 12)
        << padded_left(fixed(bucket.bleu.score, digits), 9) << '\n';
}

void print_links(std::ostream& out, const AlignmentError& links, int digits) {
  const auto percent = [&](double share) { return fixed(100 * share, digits); };
  out << "AER = " << percent(links.error) << " % precision = " << percent(links.precision)
      << " % recall = " << percent(links.recall) << " % (links = " << links.links << " sure = " << links.sure
      << " possible = " << links.possible << ")\n";
}

void print_tables(std::ostream& out, const Evaluated& all, const EvalFilesOptions& options) {
  for (const auto& [measured, found] : all.metrics) {
    print_systems(out, all.systems, measured, found, options.digits.value_or(measured.figures[0].digits),
                  options.columns);
    out << '\n';
  }
  for (const auto& note : notes_on(options.significance, all.systems, all.metrics.front().measured))
    out << note << '\n';
  print(out, all.origin);
}

ordered_json figure_json(const MetricFigure& figure) {
  ordered_json one{{"name", figure.name}, {"score", nullptr}, {"signature", figure.signature}};
  if (std::isfinite(figure.score)) one["score"] = figure.score;
  one.update(figure.more);
  return one;
}

ordered_json links_json(const AlignmentError& found) {
  return {{"aer", found.error},           {"precision", found.precision},
          {"recall", found.recall},       {"links", found.links},
          {"sure", found.sure},           {"possible", found.possible},
          {"sure_hits", found.sure_hits}, {"possible_hits", found.possible_hits}};
}

/// The metrics of one system.
ordered_json system_json(const Evaluated& all, size_t system) {
  ordered_json one = ordered_json::object();
  for (const auto& [measured, found] : all.metrics) {
    auto& figure = one[measured.figures[system].key] = figure_json(measured.figures[system]);
    if (!found.intervals.empty()) figure["interval"] = as_json(found.intervals[system]);
    if (!found.comparisons.empty() && system > 0) figure["comparison"] = as_json(found.comparisons[system - 1]);
  }
  return one;
}

}  // namespace

void print_evaluated(std::ostream& out, const Evaluated& all, const EvalFilesOptions& options) {
  const bool as_tables = all.systems.size() > 1 || (options.significance.any() && !all.metrics.empty());
  if (as_tables) {
    print_tables(out, all, options);
  } else {
    for (const auto& metric : all.metrics) {
      const MetricFigure& figure = metric.measured.figures.front();
      out << figure.name << '|' << figure.signature << " = " << score_text(figure, options)
          << (figure.details.empty() ? "" : " ") << figure.details << '\n';
    }
  }
  print_by_length(out, all.by_length, options.digits.value_or(2));
  if (all.links) print_links(out, *all.links, options.digits.value_or(2));
}

void print_evaluated_json(std::ostream& out, const Evaluated& all, const EvalFilesOptions& options) {
  ordered_json root = ordered_json::object();
  if (all.systems.size() > 1) {
    for (size_t system = 0; system < all.systems.size(); ++system) {
      root["systems"].push_back({{"system", all.systems[system]}});
      root["systems"].back().update(system_json(all, system));
    }
  } else if (!all.systems.empty()) {
    root = system_json(all, 0);
  }
  if (!all.by_length.buckets.empty()) root["source_length_unit"] = all.by_length.characters ? "characters" : "words";
  for (const auto& bucket : all.by_length.buckets)
    root["bleu_by_source_length"].push_back({{"shortest", bucket.shortest},
                                             {"longest", bucket.longest},
                                             {"sentences", bucket.sentences},
                                             {"bleu", bucket.bleu.score}});
  if (all.links) root["alignment"] = links_json(*all.links);
  if (options.significance.any()) root["significance"] = as_json(options.significance);
  root["provenance"] = as_json(all.origin);
  out << root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

}  // namespace heed::cli
