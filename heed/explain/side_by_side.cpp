#include "heed/explain/side_by_side.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <ATen/ATen.h>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr const char *kUndefined = "undefined_", *kCounted = "counted_";

size_t index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  check(found != names.end(), "explain: got ", name, ", expected one of ", joined(names));
  return static_cast<size_t>(found - names.begin());
}

}  // namespace

std::vector<std::string> attribution_names() {
  auto names = Catalogue<Attribution>::names();
  const auto order = [](const std::string& name) {
    const int given = Catalogue<Attribution>::describe(name).order;
    return given == 0 ? 1000 : given;
  };
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return names;
}

std::vector<NamedAttribution> attributions_of(ExplainedBatch& batch, const TestContext& context) {
  std::vector<NamedAttribution> all;
  for (const auto& name : attribution_names()) {
    const auto attribution = Catalogue<Attribution>::make(name);
    if (context.model != nullptr && !attribution->why_not(context.model->facts()).empty()) continue;
    const Tensor scores = attribution->attribute(batch, context.seed);
    if (scores.defined()) all.push_back({name, scores.to(at::kDouble).cpu().contiguous()});
  }
  return all;
}

std::optional<std::vector<double>> scores_at(const Tensor& scores, int64_t row, int64_t position,
                                             const std::vector<int64_t>& slots) {
  const auto all = scores.accessor<double, 3>();
  std::vector<double> found;
  found.reserve(slots.size());
  for (const int64_t slot : slots) {
    found.push_back(all[row][position][slot]);
    if (!std::isfinite(found.back())) return std::nullopt;
  }
  return found;
}

std::vector<double> shown(std::vector<double> scores) {
  double sum = 0;
  for (double& score : scores) {
    score = std::max(0., score);
    sum += score;
  }
  for (double& score : scores)
    if (sum > 0) score /= sum;
  return scores;
}

double rounded(double value) {
  constexpr double kScale = 1e6;
  return std::round(value * kScale) / kScale;
}

std::vector<double> rounded(std::vector<double> values) {
  for (double& value : values) value = rounded(value);
  return values;
}

ComparedFigure::ComparedFigure(std::vector<std::string> names, std::vector<std::vector<Statistic>> texts,
                               const std::function<double(const std::vector<double>&)>& score,
                               const ResamplingOptions& options)
    : names_(std::move(names)), cells_(names_.size()), differences_(names_.size()) {
  std::vector<Statistics> systems(names_.size(), Statistics{{}, score});
  const size_t count = texts.empty() ? 0 : texts.front().size();
  for (size_t text = 0; text < count; ++text) {
    const auto defined = [&](const std::vector<Statistic>& one) { return one[text].has_value(); };
    if (!std::all_of(texts.begin(), texts.end(), defined)) continue;
    for (size_t i = 0; i < texts.size(); ++i) systems[i].rows.push_back(*texts[i][text]);
    ++texts_;
  }
  for (auto& cell : cells_) cell.text = "undefined";
  if (texts_ == 0) return;
  const Resampled all = resampled(systems);
  const auto scores = scores_of(all);
  const SampleScores samples = bootstrap_scores(all, options);
  for (size_t i = 0; i < names_.size(); ++i) {
    if (!std::isfinite(scores[i])) continue;
    const Interval interval = confidence_interval(samples[i], options.confidence);
    cells_[i] = {.value = scores[i]};
    if (texts_ == 1 || !std::isfinite(interval.low) || !std::isfinite(interval.high)) continue;
    cells_[i].low = interval.low;
    cells_[i].high = interval.high;
  }
  if (names_.size() < 2 || texts_ < 2) return;
  const auto compared = paired_bootstrap_of(all, samples, options);
  for (size_t i = 0; i < compared.size(); ++i) {
    const Comparison& one = compared[i];
    if (!std::isfinite(one.difference) || !std::isfinite(one.p) || !one.interval) continue;
    differences_[i + 1] = Difference{.value = -one.difference,
                                     .low = -one.interval->high,
                                     .high = -one.interval->low,
                                     .p = one.p,
                                     .p_holm = one.p_holm};
  }
}

ComparedFigure ComparedFigure::of_means(const std::vector<std::string>& names,
                                        const std::vector<ExplanationRecord>& records,
                                        const std::function<std::optional<double>(const ExplanationRecord&)>& read,
                                        const ResamplingOptions& options) {
  std::vector<std::vector<Statistic>> texts(names.size());
  for (size_t i = 0; i < names.size(); ++i)
    for (const auto& record : records) {
      const ExplanationRecord* const scores = heed::scores_of(record, names[i]);
      const auto value = scores == nullptr ? std::nullopt : read(*scores);
      texts[i].push_back(value ? Statistic({*value, 1}) : std::nullopt);
    }
  return {names, std::move(texts), [](const std::vector<double>& sum) { return sum[0] / sum[1]; }, options};
}

ExplanationCell ComparedFigure::cell(const std::string& name) const {
  return cells_[index_of(names_, name)];
}

std::optional<ComparedFigure::Difference> ComparedFigure::difference_to(const std::string& name) const {
  return differences_[index_of(names_, name)];
}

const ExplanationRecord* scores_of(const ExplanationRecord& record, const std::string& name) {
  const auto scores = record.find("scores");
  if (scores == record.end()) return nullptr;
  const auto found = scores->find(name);
  return found == scores->end() ? nullptr : &*found;
}

std::vector<std::string> measured_attributions(const std::vector<ExplanationRecord>& records) {
  auto names = attribution_names();
  std::erase_if(names, [&](const std::string& name) {
    return std::none_of(records.begin(), records.end(),
                        [&](const auto& record) { return scores_of(record, name) != nullptr; });
  });
  return names;
}

std::vector<std::pair<std::string, int64_t>> counts_of(const std::vector<ExplanationRecord>& records) {
  std::map<std::string, int64_t> found;
  for (const auto& record : records)
    for (const auto& [key, value] : record.items()) {
      std::string name;
      if (key.starts_with(kUndefined)) name = "left out: " + key.substr(std::string(kUndefined).size());
      if (key.starts_with(kCounted)) name = key.substr(std::string(kCounted).size());
      if (name.empty()) continue;
      std::replace(name.begin(), name.end(), '_', ' ');
      ++found[name];
    }
  std::vector<std::pair<std::string, int64_t>> counts{{"texts", std::ssize(records)}};
  counts.insert(counts.end(), found.begin(), found.end());
  return counts;
}

ExplanationTable table_of_means(const std::string& title, const std::vector<std::string>& names,
                                const std::vector<std::pair<std::string, const ComparedFigure*>>& columns) {
  ExplanationTable table{.title = title, .columns = {"tokens ranked by"}};
  for (const auto& [name, figure] : columns) table.columns.push_back(name);
  for (const auto& name : names) {
    ExplanationTable::Row row{.name = name};
    for (const auto& [column, figure] : columns) row.cells.push_back(figure->cell(name));
    table.rows.push_back(std::move(row));
  }
  return table;
}

ExplanationTable table_of_differences(const std::vector<std::string>& names,
                                      const std::vector<std::pair<std::string, const ComparedFigure*>>& columns) {
  ExplanationTable table{.title = "Attention less each baseline",
                         .note =
                             "Over the same texts, with the interval of a paired bootstrap; p is two-sided, after "
                             "Holm's correction over the rows.",
                         .columns = {"baseline"}};
  for (const auto& [name, figure] : columns) {
    table.columns.push_back(name);
    table.columns.push_back("p");
  }
  for (size_t i = 1; i < names.size(); ++i) {
    ExplanationTable::Row row{.name = names[i]};
    for (const auto& [column, figure] : columns) {
      const auto difference = figure->difference_to(names[i]);
      if (!difference) {
        row.cells.push_back({.text = "undefined"});
        row.cells.push_back({.text = "undefined"});
        continue;
      }
      row.cells.push_back({.value = difference->value, .low = difference->low, .high = difference->high});
      row.cells.push_back({.value = difference->p_holm});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return std::string(text) == "-0.000" ? "0.000" : text;
}

std::string figure(const ExplanationCell& cell) {
  if (!cell.value) return cell.text;
  return figure(*cell.value) +
         (cell.low && cell.high ? " (" + figure(*cell.low) + " to " + figure(*cell.high) + ")" : "");
}

std::string p_value(double p) {
  return p < 0.001 ? "p < 0.001" : "p = " + figure(p);
}

}  // namespace heed
