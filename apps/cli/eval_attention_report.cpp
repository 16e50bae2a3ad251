#include "apps/cli/eval_attention_report.h"

#include <algorithm>

#include "apps/cli/screen.h"
#include "apps/cli/table.h"
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDigits = 4;

constexpr std::pair<const char*, const char*> kTitles[]{{"correctness", "correctness"},
                                                        {"average_precision", "average precision (MAP)"},
                                                        {"roc_auc", "ROC AUC"},
                                                        {"precision_at_k", "P@k, k = size of the rationale"},
                                                        {"f1_above_mean", "F1, weight above the mean"},
                                                        {"f1_of_top", "F1, same share of every text"},
                                                        {"spearman", "Spearman"},
                                                        {"kendall", "Kendall tau-b"},
                                                        {"partial_spearman", "partial Spearman"},
                                                        {"entropy", "entropy"},
                                                        {"relative_entropy", "entropy / log n"},
                                                        {"support", "effective support"},
                                                        {"relative_support", "effective support / n"},
                                                        {"jsd", "JSD"},
                                                        {"tvd", "TVD"},
                                                        {"top_overlap", "overlap of the largest"}};

std::string title_of(const std::string& name) {
  for (const auto& [key, title] : kTitles)
    if (name == key) return title;
  return name;
}

std::string number(const std::optional<double>& value) {
  return value ? fixed(*value, kDigits) : "-";
}

std::string interval(const std::optional<double>& low, const std::optional<double>& high) {
  return low && high ? number(low) + " to " + number(high) : "-";
}

Json json_of(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const std::vector<MeanFigure>& figures) {
  Json all = Json::object();
  for (const auto& figure : figures)
    all[figure.name] = {{"mean", json_of(figure.mean)},
                        {"low", json_of(figure.low)},
                        {"high", json_of(figure.high)},
                        {"defined", figure.defined},
                        {"undefined", figure.undefined}};
  return all;
}

const MeanFigure* figure_of(const MapFigures& map, const std::string& name) {
  const auto found = std::find_if(map.figures.begin(), map.figures.end(),
                                  [&](const MeanFigure& figure) { return figure.name == name; });
  return found == map.figures.end() ? nullptr : &*found;
}

void print_maps(std::ostream& out, const AttentionReport& report) {
  if (report.maps.empty()) return;
  Table table{
      {"mean over " + report.one_case, "attention", "95 % interval", "undefined"}, {false, true, false, true}, {}};
  for (size_t m = 1; m < report.maps.size(); ++m) {
    table.titles.push_back(report.maps[m].name);
    table.right.push_back(true);
  }
  for (const auto& figure : report.maps.front().figures) {
    std::vector<std::string> row{title_of(figure.name), number(figure.mean), interval(figure.low, figure.high),
                                 std::to_string(figure.undefined)};
    for (size_t m = 1; m < report.maps.size(); ++m) {
      const MeanFigure* const same = figure_of(report.maps[m], figure.name);
      row.push_back(same == nullptr ? "" : number(same->mean));
    }
    table.rows.push_back(std::move(row));
  }
  out << '\n';
  print_table(out, table, 0);
}

void print_differences(std::ostream& out, const AttentionReport& report) {
  if (report.differences.empty()) return;
  Table table{{"attention less a baseline", "baseline", "difference", "95 % interval", "p", report.item},
              {false, false, true, false, true, true},
              {}};
  for (const auto& [figure, baseline, found] : report.differences)
    table.rows.push_back({title_of(figure), baseline, (found.difference > 0 ? "+" : "") + number(found.difference),
                          interval(found.low, found.high), number(found.p), std::to_string(found.items)});
  out << '\n';
  print_table(out, table, 0);
}

void print_agreements(std::ostream& out, const AttentionReport& report) {
  if (report.agreements.empty()) return;
  Table table{{"agreement of", "maps", "measure", "mean", "95 % interval", "undefined"},
              {false, true, false, true, false, true},
              {}};
  for (const auto& one : report.agreements)
    for (const auto& figure : one.figures)
      table.rows.push_back({one.name, std::to_string(one.maps.size()), title_of(figure.name), number(figure.mean),
                            interval(figure.low, figure.high), std::to_string(figure.undefined)});
  out << '\n';
  print_table(out, table, 0);
}

void print_links(std::ostream& out, const AttentionReport& report) {
  if (report.links.empty()) return;
  Table table{{"links", "AER", "95 % interval", "precision", "recall"}, {false, true, false, true, true}, {}};
  for (const auto& one : report.links)
    table.rows.push_back(
        {one.name, number(one.error), interval(one.low, one.high), number(one.precision), number(one.recall)});
  out << '\n';
  print_table(out, table, 0);
}

std::string printed_counts(const AttentionReport& report) {
  std::string text;
  for (const auto& [name, count] : report.counts) {
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + words;
  }
  return text;
}

/// What a partial correlation says about people and attention.
std::string meaning_of(const MeanFigure& figure, const std::string& cases) {
  constexpr int64_t kFewCases = 20;  // a bootstrap interval of fewer is too narrow
  if (figure.defined < kFewCases)
    return " is of few " + cases + " (" + std::to_string(figure.defined) + "): an interval over fewer than " +
           std::to_string(kFewCases) + " is not reliable, and nothing is concluded from it.";
  const std::string beyond = ": beyond what the controls explain, ";
  if (*figure.low > 0) return beyond + "words that people weigh more have more attention.";
  if (*figure.high < 0) return beyond + "words that people weigh more have less attention.";
  return beyond + "no relation of attention and gold is visible.";
}

}  // namespace

void add_degenerate(AttentionReport& report, const DegenerateCases& cases, bool has_rationales) {
  auto& counts = report.counts;
  counts.emplace_back("with_one_word", cases.one_key);
  counts.emplace_back("without_weight", cases.no_weight);
  counts.emplace_back("with_constant_weights", cases.constant_weights);
  counts.emplace_back("with_constant_gold", cases.constant_gold);
  if (!has_rationales) return;
  counts.emplace_back("with_empty_rationale", cases.nothing_relevant);
  counts.emplace_back("with_all_words_in_the_rationale", cases.all_relevant);
  counts.emplace_back("with_ties_at_k", cases.tied_at_k);
}

void add_meaning(AttentionReport& report) {
  if (report.maps.empty()) return;
  const MeanFigure* const figure = figure_of(report.maps.front(), "partial_spearman");
  if (figure != nullptr && figure->mean && figure->low && figure->high)
    report.notes.push_back("Partial Spearman " + number(figure->mean) + " (" + interval(figure->low, figure->high) +
                           ")" + meaning_of(*figure, report.one_case));
  report.notes.emplace_back(
      "Weights that agree with people are plausible explanations, not faithful ones: what decided may be elsewhere.");
}

std::string strongest_of(const AttentionReport& report, const std::vector<std::string>& maps,
                         const std::string& figure) {
  std::string strongest;
  double largest = 0;
  for (const auto& map : report.maps) {
    if (std::find(maps.begin(), maps.end(), map.name) == maps.end()) continue;
    const MeanFigure* const found = figure_of(map, figure);
    if (found == nullptr || !found->mean || (!strongest.empty() && *found->mean <= largest)) continue;
    strongest = map.name;
    largest = *found->mean;
  }
  return strongest;
}

nlohmann::ordered_json as_json(const AttentionReport& report) {
  Json all{{"run", report.run},
           {"gold", report.gold},
           {"means_over", report.one_case},
           {"resampled", report.item},
           {"samples", report.resampling.samples},
           {"seed", report.resampling.seed},
           {"confidence", report.resampling.confidence},
           {"counts", Json::object()}};
  for (const auto& [name, count] : report.counts) all["counts"][name] = count;
  for (const auto& one : report.links)
    all["links"][one.name] = {
        {"aer", one.error}, {"low", one.low}, {"high", one.high}, {"precision", one.precision}, {"recall", one.recall}};
  for (const auto& map : report.maps) all["maps"][map.name] = json_of(map.figures);
  for (const auto& [figure, baseline, found] : report.differences)
    all["differences"][figure] = {{"baseline", baseline}, {"difference", found.difference},
                                  {"low", found.low},     {"high", found.high},
                                  {"p", found.p},         {report.item, found.items}};
  for (const auto& one : report.agreements) {
    all["agreement"][one.name] = json_of(one.figures);
    all["agreement"][one.name]["maps"] = one.maps;
  }
  all["notes"] = report.notes;
  all["provenance"] = as_json(report.origin);
  return all;
}

void print(std::ostream& out, const AttentionReport& report) {
  out << "attention of " << printable(report.run) << " against " << printable(report.gold) << ": "
      << printed_counts(report) << '\n';
  print_links(out, report);
  print_maps(out, report);
  print_differences(out, report);
  print_agreements(out, report);
  if (!report.notes.empty()) out << '\n';
  for (const auto& note : report.notes) out << printable(note) << '\n';
  out << '\n';
  print(out, report.origin);
}

}  // namespace heed::cli
