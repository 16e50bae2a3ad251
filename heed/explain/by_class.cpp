#include "heed/explain/by_class.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include "heed/explain/measured_text.h"
#include "heed/metrics/significance.h"

namespace heed {
namespace {

constexpr size_t kMaxClasses = 10, kMaxPoints = 2000, kMinTokens = 4;

ResamplingOptions resampling(const TestSummaryOptions& options) {
  return {.samples = options.samples, .seed = options.seed};
}

ExplanationCell bounded(double value, const Interval& interval) {
  ExplanationCell cell{.value = value};
  if (std::isfinite(interval.low) && std::isfinite(interval.high)) {
    cell.low = interval.low;
    cell.high = interval.high;
  }
  return cell;
}

const ExplanationCell kNone{.text = "-"};

/// Points of a group; of many texts, every second one, third one, ..., so that a page stays small.
std::vector<std::pair<double, double>> points_of(const TextGroup& group, const std::string& x, const std::string& y) {
  std::vector<std::pair<double, double>> all;
  for (const auto* record : group.records)
    if (record->contains(y)) all.emplace_back(x.empty() ? 0 : record->value(x, 0.0), record->at(y).get<double>());
  const size_t step = (all.size() + kMaxPoints - 1) / kMaxPoints;
  if (step < 2) return all;
  std::vector<std::pair<double, double>> some;
  for (size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
  return some;
}

std::string decimals(double value, int count = 2) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", count, value);
  return text.data();
}

}  // namespace

std::vector<TextGroup> groups_of(const std::vector<ExplanationRecord>& records, const ExplainedFacts& facts) {
  std::map<int64_t, TextGroup> classes;
  TextGroup all{.name = "all"};
  for (const auto& record : records) {
    all.records.push_back(&record);
    if (const auto found = record.find("class"); found != record.end()) {
      const auto number = found->get<int64_t>();
      TextGroup& group = classes[number];
      group.name = number < std::ssize(facts.classes) ? facts.classes[static_cast<size_t>(number)]
                                                      : "class " + std::to_string(number);
      group.records.push_back(&record);
    }
  }
  std::vector<TextGroup> groups;
  if (classes.size() >= 2 && classes.size() <= kMaxClasses)
    for (auto& [number, group] : classes) groups.push_back(std::move(group));
  groups.push_back(std::move(all));
  return groups;
}

std::vector<double> numbers_of(const TextGroup& group, const std::string& key) {
  std::vector<double> numbers;
  for (const auto* record : group.records)
    if (const auto found = record->find(key); found != record->end()) numbers.push_back(found->get<double>());
  return numbers;
}

ExplanationCell mean_cell(const std::vector<double>& numbers, const TestSummaryOptions& options) {
  if (numbers.empty()) return kNone;
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
  return bounded(mean, bootstrap_intervals(resampled({mean_statistics(numbers)}), resampling(options)).front());
}

ExplanationCell median_cell(const std::vector<double>& numbers, const TestSummaryOptions& options) {
  if (numbers.empty()) return kNone;
  const auto score = [](const std::vector<double>& some, const std::vector<double>&) { return median(some); };
  const Resampled outputs = rescored<double, double>({numbers}, numbers, score);
  return bounded(median(numbers), bootstrap_intervals(outputs, resampling(options)).front());
}

ExplanationCell deviation_cell(const std::vector<double>& numbers) {
  if (numbers.empty()) return kNone;
  const auto count = static_cast<double>(numbers.size());
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
  double sum = 0;
  for (const double number : numbers) sum += (number - mean) * (number - mean);
  return {.value = std::sqrt(sum / count)};
}

ExplanationCell share_cell(const std::vector<double>& numbers, const std::function<bool(double)>& counted,
                           const TestSummaryOptions& options) {
  std::vector<double> ones;
  ones.reserve(numbers.size());
  for (const double number : numbers) ones.push_back(counted(number) ? 1 : 0);
  return mean_cell(ones, options);
}

ExplanationCell count_cell(size_t count) {
  return {.text = std::to_string(count)};
}

ExplanationPlot violins_by_class(const std::vector<TextGroup>& groups, const std::string& key) {
  ExplanationPlot plot{.kind = ExplanationPlot::Kind::violin};
  for (const auto& group : groups)
    if (groups.size() == 1 || &group != &groups.back()) plot.series.push_back({group.name, points_of(group, "", key)});
  return plot;
}

std::vector<TextGroup> groups_by_weight(const TextGroup& all) {
  std::vector<TextGroup> bins;
  for (const char* name : {"0 to 0.25", "0.25 to 0.5", "0.5 to 0.75", "0.75 to 1"}) bins.push_back({.name = name});
  const auto count = static_cast<double>(bins.size());
  for (const auto* record : all.records) {
    const auto found = record->find("max_weight");
    if (found == record->end()) continue;
    const double bin = std::clamp(std::floor(found->get<double>() * count), 0.0, count - 1);
    bins[static_cast<size_t>(bin)].records.push_back(record);
  }
  return bins;
}

ExplanationPlot violins_by_weight(const TextGroup& all, const std::string& key) {
  ExplanationPlot plot{.kind = ExplanationPlot::Kind::violin};
  for (const auto& bin : groups_by_weight(all)) plot.series.push_back({bin.name, points_of(bin, "max_weight", key)});
  return plot;
}

ExplanationPlot points_by_weight(const std::vector<TextGroup>& groups, const std::string& key) {
  ExplanationPlot plot{.kind = ExplanationPlot::Kind::scatter};
  for (const auto& group : groups)
    if (groups.size() == 1 || &group != &groups.back())
      plot.series.push_back({group.name, points_of(group, "max_weight", key)});
  return plot;
}

void add_examples(ExplanationResult& result, const TextGroup& all, const std::string& key, const std::string& title,
                  const std::vector<MapName>& maps, const TestSummaryOptions& options) {
  std::vector<const ExplanationRecord*> usable;
  for (const auto* record : all.records) {
    const auto has = [&](const MapName& map) { return record->contains(map.key); };
    if (record->contains(key) && record->at("tokens").get<size_t>() >= kMinTokens &&
        std::all_of(maps.begin(), maps.end(), has))
      usable.push_back(record);
  }
  std::stable_sort(usable.begin(), usable.end(), [&](const auto* one, const auto* other) {
    return one->at(key).template get<double>() > other->at(key).template get<double>();
  });
  const size_t count = std::min(options.examples, usable.size() / 2);
  const auto& classes = options.model->facts().classes;
  const auto add = [&](const ExplanationRecord& record, const std::string& which) {
    const ExplainedText& text = options.model->texts().at(record.at("item").get<size_t>());
    ExplanationExample example{.title = which + " " + title};
    example.remark = text.id + ": " + title + " " + decimals(record.at(key).get<double>());
    const auto number = record.value("class", int64_t{-1});
    if (number >= 0 && number < std::ssize(classes))
      example.remark += ", predicted " + classes[static_cast<size_t>(number)];
    example.tokens = text.tokens;
    for (const auto& map : maps) example.maps.push_back({map.name, record.at(map.key).get<std::vector<double>>()});
    result.examples.push_back(std::move(example));
  };
  for (size_t i = 0; i < count; ++i) add(*usable[i], "Largest");
  for (size_t i = 0; i < count; ++i) add(*usable[usable.size() - 1 - i], "Smallest");
}

ExplanationVerdict verdict_of(const ExplanationCell& cell, size_t texts, const TestSummaryOptions& options, double low,
                              double high) {
  if (texts < options.min_texts || !cell.low || !cell.high) return ExplanationVerdict::neither;
  if (*cell.high < low) return ExplanationVerdict::speaks_against;
  return *cell.low >= high ? ExplanationVerdict::speaks_for : ExplanationVerdict::neither;
}

std::string too_few(size_t texts, const TestSummaryOptions& options) {
  if (texts >= options.min_texts) return "";
  return "; " + std::to_string(texts) + (texts == 1 ? " text is" : " texts are") + " too few for a verdict";
}

std::string with_interval(const ExplanationCell& cell) {
  if (!cell.value) return "undefined";
  if (!cell.low || !cell.high) return decimals(*cell.value);
  return decimals(*cell.value) + " (95 %: " + decimals(*cell.low) + " to " + decimals(*cell.high) + ")";
}

}  // namespace heed
