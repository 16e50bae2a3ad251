// How different weights may be that give about the same output (Jain & Wallace, 2019): among k weights that are
// searched for (adversarial_search.h), those with TVD(y_i, y) <= epsilon and the largest JSD(a_i, a), the epsilon-max
// JSD. The model's own weights are among the candidates, so it is at least 0.
//
// JSD is of weights divided by their sum, exact (metrics/distribution_distance.h), at most log 2 = .693; less where
// many tokens have weight already. Heads and features are all given the same weights.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include <ATen/ATen.h>

#include "heed/base/check.h"
#include "heed/explain/adversarial_search.h"
#include "heed/explain/by_class.h"
#include "heed/explain/measured_text.h"
#include "heed/explain/side_by_side.h"
#include "heed/metrics/distribution_distance.h"

namespace heed {
namespace {

const double kMaxJsd = std::log(2.0);
constexpr double kAgainst = 0.5, kFor = 0.25;  // of the largest JSD
constexpr double kSearched = 0.8;  // share of searches within epsilon, for a search that would have found some

class AdversarialWeightsTest final : public ExplanationTest {
 public:
  explicit AdversarialWeightsTest(const Options& options) {
    search_.steps = options.integer("steps", 500);
    search_.distributions = options.integer("distributions", 5);
    search_.epsilon = options.number("epsilon", 0.01);
    const std::string where = "explanation test/adversarial_weights: ";
    check(search_.steps >= 0, where, "got steps = ", search_.steps, ", expected at least 0");
    check(search_.distributions >= 1, where, "got distributions = ", search_.distributions, ", expected at least 1");
    check(search_.epsilon >= 0, where, "got epsilon = ", search_.epsilon, ", expected at least 0");
  }

  ExplanationResult card() const override {
    return {.title = "Adversarial weights",
            .paper = "Jain & Wallace, 2019",
            .means =
                "The largest divergence (0 to .69) from the model's weights that was found among weights with the "
                "same output: near .69 quite other tokens could have the weight, and the output would be the same.",
            .means_not =
                "The model does not compute these weights: that they exist does not say that it could have "
                "learned them (Wiegreffe & Pinter, 2019). And a search that finds none does not show that there "
                "are none."};
  }

  std::string why_not(const ExplainedFacts& facts, bool) const override {
    return facts.attends ? "" : "the model has no weights of tokens";
  }

  std::vector<ExplanationRecord> measure(ExplainedBatch& batch, const TestContext& context) const override {
    const auto texts = measured_texts(batch);
    std::vector<ExplanationRecord> records;
    std::vector<int64_t> rows;
    for (int64_t b = 0; b < batch.size(); ++b) {
      const MeasuredText& text = texts[static_cast<size_t>(b)];
      records.push_back(text_record(batch, context, b, text));
      std::string reason = text.positions.empty() ? "no_positions" : no_distribution(text, 0);
      for (size_t p = 1; p < text.positions.size() && !reason.empty(); ++p)
        if (no_distribution(text, p).empty()) reason.clear();
      if (reason.empty())
        rows.push_back(b);
      else
        records.back()["undefined_" + reason] = true;
    }
    // Texts that are searched together have about the same length; a search takes gradients too, hence the half.
    std::stable_sort(rows.begin(), rows.end(), [&](int64_t one, int64_t other) {
      return texts[static_cast<size_t>(one)].slots.size() < texts[static_cast<size_t>(other)].slots.size();
    });
    const int64_t at_once = std::max<int64_t>(1, variations_at_once(batch) / (2 * search_.distributions));
    for (int64_t first = 0; first < std::ssize(rows); first += at_once) {
      const std::vector<int64_t> some(rows.begin() + first, rows.begin() + std::min(first + at_once, std::ssize(rows)));
      search(batch, context, texts, some, records);
    }
    return records;
  }

  ExplanationResult summarize(const std::vector<ExplanationRecord>& records,
                              const TestSummaryOptions& options) const override {
    ExplanationResult result = card();
    const auto groups = groups_of(records, options.model->facts());
    const TextGroup& all = groups.back();
    result.counts = counts_of(records);
    ExplanationTable table{
        .title = "Epsilon-max JSD",
        .note =
            "The largest divergence of weights whose output is within epsilon (total variation "
            "distance) of the model's. Shares: of texts above half and nine tenths of log 2. "
            "Within: of all weights searched for, those within epsilon.",
        .columns = {"predicted class", "texts", "mean", "median", "above .35", "above .62", "within"}};
    for (const auto& group : groups) {
      const auto found = numbers_of(group, "jsd");
      table.rows.push_back({group.name,
                            {count_cell(found.size()), mean_cell(found, options), median_cell(found, options),
                             share_cell(
                                 found, [](double jsd) { return jsd > kMaxJsd / 2; }, options),
                             share_cell(
                                 found, [](double jsd) { return jsd > 0.9 * kMaxJsd; }, options),
                             mean_cell(numbers_of(group, "within"), options)}});
    }
    result.tables.push_back(std::move(table));
    ExplanationPlot violins = violins_by_weight(all, "jsd"), points = points_by_weight(groups, "jsd");
    for (ExplanationPlot* plot : {&violins, &points}) {
      plot->title = "Largest divergence with the same output";
      plot->x_name = "largest weight of a text";
      plot->y_name = "epsilon-max JSD";
      result.plots.push_back(*plot);
    }
    add_examples(result, all, "jsd", "divergence", {{"weights", "attention"}, {"adversarial", "adversarial weights"}},
                 options);
    conclude(result, all, options);
    return result;
  }

 private:
  struct PositionSum {
    double jsd = 0, tvd = 0, within = 0, max_weight = 0;
    int64_t positions = 0;
    std::vector<TokenValues> own{}, adversarial{};
  };

  void search(ExplainedBatch& batch, const TestContext& context, const std::vector<MeasuredText>& texts,
              const std::vector<int64_t>& rows, std::vector<ExplanationRecord>& records) const {
    const int64_t M = std::ssize(rows), P = batch.positions.size(1);
    const Tensor usable = at::zeros({M, P}, at::kBool);
    for (int64_t m = 0; m < M; ++m) {
      const MeasuredText& text = texts[static_cast<size_t>(rows[static_cast<size_t>(m)])];
      for (size_t p = 0; p < text.positions.size(); ++p)
        usable.data_ptr<bool>()[m * P + text.positions[p]] = no_distribution(text, p).empty();
    }
    const Tensor positions = usable.to(batch.keep.device());
    const Tensor some = batch.weights.index_select(0, at::tensor(rows, at::kLong).to(batch.keep.device()));
    const Tensor own = at::where(positions.unsqueeze(-1), normalized(some), at::zeros({}, some.options()));
    const AdversarialWeights found =
        adversarial_weights(batch, context.model->facts(), rows, own, positions, context.seed, search_);
    const Tensor weights = found.weights.to(at::kCPU, at::kDouble).contiguous(),
                 distances = found.distances.contiguous();
    for (int64_t m = 0; m < M; ++m) {
      const auto row = static_cast<size_t>(rows[static_cast<size_t>(m)]);
      const MeasuredText& text = texts[row];
      PositionSum sum;
      for (size_t p = 0; p < text.positions.size(); ++p)
        if (no_distribution(text, p).empty()) add_position(sum, text, p, weights[m], distances[m]);
      ExplanationRecord& record = records[row];
      const auto count = static_cast<double>(sum.positions);
      record["max_weight"] = sum.max_weight / count;
      record["jsd"] = sum.jsd / count;
      record["tvd"] = sum.tvd / count;
      record["within"] = sum.within / count;
      add_map(record, "weights", mean_over_positions(sum.own));
      add_map(record, "adversarial", mean_over_positions(sum.adversarial));
    }
  }

  /// weights [k, P, T], distances [k, P].
  void add_position(PositionSum& sum, const MeasuredText& text, size_t position, const Tensor& weights,
                    const Tensor& distances) const {
    const int64_t p = text.positions[position];
    TokenValues own = text.weights[position];
    double total = 0;
    for (const double weight : own) total += weight;
    for (double& weight : own) weight /= total;
    double best = 0, distance = 0;  // those of the own weights
    TokenValues best_weights = own;
    for (int64_t i = 0; i < search_.distributions; ++i) {
      const auto change = distances[i][p].item<double>();
      if (!(change <= search_.epsilon)) continue;  // NaN is no candidate
      sum.within += 1.0 / static_cast<double>(search_.distributions);
      const Tensor one = weights[i][p].contiguous();
      TokenValues candidate;
      for (const int64_t slot : text.slots) candidate.push_back(one.data_ptr<double>()[slot]);
      const double jsd = jensen_shannon(own, candidate);
      if (!(jsd > best)) continue;
      best = jsd;
      distance = change;
      best_weights = std::move(candidate);
    }
    ++sum.positions;
    sum.jsd += best;
    sum.tvd += distance;
    sum.max_weight += max_weight(own);
    sum.own.push_back(std::move(own));
    sum.adversarial.push_back(std::move(best_weights));
  }

  static void conclude(ExplanationResult& result, const TextGroup& all, const TestSummaryOptions& options) {
    const auto found = numbers_of(all, "jsd");
    if (found.empty()) {
      result.finding = "No text has weights that other weights could replace.";
      return;
    }
    const ExplanationCell jsd = median_cell(found, options);
    const auto negative = [](std::optional<double> value) { return value ? std::optional(-*value) : value; };
    const ExplanationCell opposite{.value = -*jsd.value, .low = negative(jsd.high), .high = negative(jsd.low)};
    result.figure_name = "median JSD";
    result.figure = jsd;
    // Large divergences speak against.
    result.verdict = verdict_of(opposite, found.size(), options, -kAgainst * kMaxJsd, -kFor * kMaxJsd);
    result.finding = "Weights with the same output diverge from the model's by a median of " + with_interval(jsd) +
                     " over " + std::to_string(found.size()) + (found.size() == 1 ? " text" : " texts") +
                     ", .69 at most; an interval above .35 speaks against the weights, one below .17 for them" +
                     too_few(found.size(), options) + ".";
    if (result.verdict != ExplanationVerdict::speaks_for) return;
    const auto within = numbers_of(all, "within");
    const double share = std::accumulate(within.begin(), within.end(), 0.0) / static_cast<double>(within.size());
    if (share >= kSearched) return;
    result.verdict = ExplanationVerdict::neither;
    result.finding += " But only a share of " + figure(share) +
                      " of the searches ended within epsilon: there may be other weights that were not found.";
  }

  AdversarialOptions search_{};
};

const Catalogue<ExplanationTest>::Entry adversarial_weights_entry{
    "adversarial_weights",
    make_part<ExplanationTest, AdversarialWeightsTest>,
    {.formula = "max JSD(a', a) with TVD(y(a'), y(a)) <= epsilon",
     .paper = "Jain & Wallace, 2019",
     .cost = "500 steps of gradient descent on 5 distributions of each text",
     .choose = "whether other weights would do as well",
     .order = 4}};

}  // namespace
}  // namespace heed
