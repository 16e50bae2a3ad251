#include "heed/explain/token_agreement.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "heed/explain/measured_text.h"
#include "heed/explain/side_by_side.h"
#include "heed/metrics/rank_correlation.h"
#include "heed/metrics/top_k_distance.h"

namespace heed {
namespace {

constexpr double kSignificant = 0.05;

/// k = max(10, a tenth of the mean number of tokens).
int64_t top_k(const ExplainedModel& model) {
  constexpr int64_t kMinK = 10;
  if (model.texts().empty()) return kMinK;
  size_t tokens = 0;
  for (const auto& text : model.texts()) tokens += text.tokens.size();
  return std::max<int64_t>(kMinK, static_cast<int64_t>(tokens / model.texts().size()) / kMinK);
}

struct PositionSum {
  double tau = 0, significant = 0, distance = 0;
  int64_t positions = 0, distances = 0;
  std::optional<double> p{};
};

std::string no_importance(const TokenValues& importance, const ImportanceName& name) {
  if (!std::all_of(importance.begin(), importance.end(), [](double value) { return std::isfinite(value); }))
    return "nan_" + name.several;
  const bool negligible = std::all_of(importance.begin(), importance.end(),
                                      [&](double value) { return std::abs(value) <= name.negligible; });
  return negligible || constant(importance) ? "constant_" + name.several : "";
}

ExplanationCell cell_of(const TextGroup& group, const std::string& key, const TestSummaryOptions& options) {
  return mean_cell(numbers_of(group, key), options);
}

}  // namespace

std::vector<ExplanationRecord> measure_agreement(const ExplainedBatch& batch, const Tensor& importance,
                                                 const ImportanceName& name, const TestContext& context) {
  const int64_t k = top_k(*context.model);
  const std::vector<MeasuredText> texts = measured_texts(batch);
  std::vector<ExplanationRecord> records;
  for (int64_t b = 0; b < batch.size(); ++b) {
    const MeasuredText& text = texts[static_cast<size_t>(b)];
    ExplanationRecord record = text_record(batch, context, b, text);
    const std::vector<TokenValues> important = values_of(importance, b, text);
    PositionSum sum;
    std::string reason;
    for (size_t p = 0; p < important.size(); ++p) {
      std::string why = no_order(text, p);
      if (why.empty()) why = no_importance(important[p], name);
      if (reason.empty()) reason = why;
      if (!why.empty()) continue;
      const auto test = kendall_test(text.weights[p], important[p]);
      ++sum.positions;
      sum.tau += test->tau;
      sum.significant += test->p <= kSignificant ? 1 : 0;
      sum.p = test->p;
      if (const auto distance = top_k_distance(text.weights[p], important[p], k)) {
        ++sum.distances;
        sum.distance += *distance;
      }
    }
    if (sum.positions > 0) {
      const auto count = static_cast<double>(sum.positions);
      record["tau"] = sum.tau / count;
      record["significant"] = sum.significant / count;
      if (important.size() == 1) record["p"] = *sum.p;
      if (sum.distances > 0) record["top_k_distance"] = sum.distance / static_cast<double>(sum.distances);
      add_map(record, "weights", mean_over_positions(text.weights));
      add_map(record, "importance", mean_over_positions(important));
    } else {
      record["undefined_" + (reason.empty() ? "no_positions" : reason)] = true;
    }
    records.push_back(std::move(record));
  }
  return records;
}

ExplanationResult summarize_agreement(ExplanationResult card, const std::vector<ExplanationRecord>& records,
                                      const ImportanceName& name, const TestSummaryOptions& options) {
  const auto groups = groups_of(records, options.model->facts());
  card.counts = counts_of(records);
  ExplanationTable table{.title = "Kendall tau-b of weights and " + name.several,
                         .note =
                             "Means over texts with intervals of 95 % by bootstrap over texts; p <= .05: the share "
                             "of texts whose tau is significant by itself, which grows with the length of texts. "
                             "The distance of the top k tokens is 0 for the same list, and 1 at most.",
                         .columns = {"predicted class", "texts", "mean tau", "std", "p <= .05", "top-k distance"}};
  for (const auto& group : groups) {
    const auto taus = numbers_of(group, "tau");
    table.rows.push_back({group.name,
                          {count_cell(taus.size()), mean_cell(taus, options), deviation_cell(taus),
                           cell_of(group, "significant", options), cell_of(group, "top_k_distance", options)}});
  }
  card.tables.push_back(std::move(table));
  ExplanationPlot plot = violins_by_class(groups, "tau");
  plot.title = "Agreement of weights and " + name.several;
  plot.x_name = groups.size() > 1 ? "predicted class" : "texts";
  plot.y_name = "Kendall tau-b";
  card.plots.push_back(std::move(plot));
  add_examples(card, groups.back(), "tau", "tau", {{"weights", "attention"}, {"importance", name.one}}, options);

  const ExplanationCell tau = mean_cell(numbers_of(groups.back(), "tau"), options);
  if (!tau.value) {
    card.finding = "No text has both weights and " + name.several + " that differ from token to token.";
    return card;
  }
  const size_t texts = numbers_of(groups.back(), "tau").size();
  card.figure_name = "mean tau";
  card.figure = tau;
  card.verdict = verdict_of(tau, texts, options, kTauAgainst, kTauFor);
  card.finding = "Weights and " + name.several + " order the tokens of a text with a mean tau of " +
                 with_interval(tau) + " over " + std::to_string(texts) + (texts == 1 ? " text" : " texts") +
                 "; an interval below .5 speaks against the weights, one from .7 for them" + too_few(texts, options) +
                 ".";
  return card;
}

}  // namespace heed
