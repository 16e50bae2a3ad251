// Whether the output changes when the weights of a text are permuted (Jain & Wallace, 2019): the median over 100 random
// permutations of TVD(y with permuted weights, y). The states that are weighted stay as they are. Weights that do not
// sum to 1 are permuted as they are.
//
// Where one token has most of the weight and the output stays the same, the weights do not matter. Where weights are
// about equal, little can change, and nothing follows.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "heed/base/check.h"
#include "heed/base/philox.h"
#include "heed/explain/by_class.h"
#include "heed/explain/measured_text.h"
#include "heed/explain/side_by_side.h"

namespace heed {
namespace {

constexpr uint64_t kPermutations = 9411;  // stream of random numbers
constexpr double kPeaked = 0.5;           // weight of one token from which a text has peaked weights
constexpr double kAgainst = 0.1, kFor = 0.25;

/// A permutation of n tokens, from seed, item and the number of the permutation.
std::vector<int64_t> permutation(uint64_t seed, size_t item, int64_t sample, int64_t n) {
  std::vector<float> drawn(static_cast<size_t>(n));
  uniforms(seed, kPermutations, kPolicy, static_cast<uint32_t>(item), static_cast<uint32_t>(sample), n, drawn.data());
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t left = order.size(); left > 1; --left) {  // Fisher-Yates
    const auto chosen = static_cast<size_t>(static_cast<double>(drawn[left - 1]) * static_cast<double>(left));
    std::swap(order[left - 1], order[std::min(chosen, left - 1)]);
  }
  return order;
}

class Permutation final : public ExplanationTest {
 public:
  explicit Permutation(const Options& options) : samples_(options.integer("samples", 100)) {
    check(samples_ >= 1, "explanation test/permutation: got samples = ", samples_, ", expected at least 1");
  }

  ExplanationResult card() const override {
    return {.title = "Permuted weights",
            .paper = "Jain & Wallace, 2019",
            .means =
                "The median change of the output (total variation distance, 0 to 1) when the weights of a text go to "
                "other tokens of the text: near 0 the output does not depend on which token has which weight.",
            .means_not =
                "A change does not say that the tokens with large weights are the right ones; and where the "
                "states of tokens are alike, as recurrent encoders make them, nothing changes although the "
                "weights may be meant."};
  }

  std::string why_not(const ExplainedFacts& facts, bool) const override {
    return facts.attends ? "" : "the model has no weights of tokens";
  }

  std::vector<ExplanationRecord> measure(ExplainedBatch& batch, const TestContext& context) const override {
    const at::NoGradGuard no_gradients;
    const auto texts = measured_texts(batch);
    const int64_t P = batch.positions.size(1), T = batch.tokens();
    std::vector<std::vector<std::vector<double>>> changes(texts.size());  // [text][position of MeasuredText][sample]
    std::vector<std::pair<size_t, int64_t>> variations;
    for (size_t b = 0; b < texts.size(); ++b) {
      changes[b].resize(texts[b].positions.size());
      bool ordered = false;
      for (size_t p = 0; p < texts[b].positions.size(); ++p) ordered = ordered || no_order(texts[b], p).empty();
      for (int64_t sample = 0; ordered && sample < samples_; ++sample) variations.emplace_back(b, sample);
    }
    const int64_t at_once = variations_at_once(batch);
    for (int64_t first = 0; first < std::ssize(variations); first += at_once) {
      const int64_t count = std::min(at_once, std::ssize(variations) - first);
      const Tensor rows = at::empty({count}, at::kLong), order = at::arange(T).repeat({count, 1});
      for (int64_t n = 0; n < count; ++n) {
        const auto& [b, sample] = variations[static_cast<size_t>(first + n)];
        const auto& slots = texts[b].slots;
        rows.data_ptr<int64_t>()[n] = static_cast<int64_t>(b);
        const auto drawn = permutation(context.seed, batch.items[b], sample, std::ssize(slots));
        for (size_t i = 0; i < slots.size(); ++i)
          order.data_ptr<int64_t>()[n * T + slots[i]] = slots[static_cast<size_t>(drawn[i])];
      }
      const Tensor row = rows.to(batch.keep.device());
      const Tensor at_positions = order.to(batch.keep.device()).unsqueeze(1).expand({count, P, T});
      const Tensor distances =
          output_distances(batch, context.model->facts(), row, batch.outputs_permuted(row, at_positions)).contiguous();
      for (int64_t n = 0; n < count; ++n) {
        const size_t b = variations[static_cast<size_t>(first + n)].first;
        for (size_t p = 0; p < changes[b].size(); ++p)
          changes[b][p].push_back(distances.data_ptr<double>()[n * P + texts[b].positions[p]]);
      }
    }
    std::vector<ExplanationRecord> records;
    for (size_t b = 0; b < texts.size(); ++b) records.push_back(record_of(batch, context, b, texts[b], changes[b]));
    return records;
  }

  ExplanationResult summarize(const std::vector<ExplanationRecord>& records,
                              const TestSummaryOptions& options) const override {
    ExplanationResult result = card();
    const auto groups = groups_of(records, options.model->facts());
    const TextGroup& all = groups.back();
    result.counts = counts_of(records);
    result.tables.push_back(by_class(groups, options));
    result.tables.push_back(by_weight(all, options));
    ExplanationPlot violins = violins_by_weight(all, "tvd");
    violins.title = "Change under permuted weights";
    violins.x_name = "largest weight of a text";
    violins.y_name = "median change of the output";
    result.plots.push_back(std::move(violins));
    add_examples(result, all, "tvd", "change", {{"weights", "attention"}}, options);
    conclude(result, all, options);
    return result;
  }

 private:
  static ExplanationRecord record_of(const ExplainedBatch& batch, const TestContext& context, size_t b,
                                     const MeasuredText& text, const std::vector<std::vector<double>>& changes) {
    ExplanationRecord record = text_record(batch, context, static_cast<int64_t>(b), text);
    double change = 0, largest = 0;
    int64_t positions = 0;
    std::string reason;
    for (size_t p = 0; p < changes.size(); ++p) {
      std::string why = no_order(text, p);
      const auto finite = [](double value) { return std::isfinite(value); };
      if (why.empty() && !std::all_of(changes[p].begin(), changes[p].end(), finite)) why = "nan_outputs";
      if (reason.empty()) reason = why;
      if (!why.empty()) continue;
      ++positions;
      change += median(changes[p]);
      largest += max_weight(text.weights[p]);
    }
    if (positions == 0) {
      record["undefined_" + (reason.empty() ? "no_positions" : reason)] = true;
      return record;
    }
    record["max_weight"] = largest / static_cast<double>(positions);
    record["tvd"] = change / static_cast<double>(positions);
    add_map(record, "weights", mean_over_positions(text.weights));
    return record;
  }

  static bool peaked(const ExplanationRecord& record) { return record.value("max_weight", 0.0) >= kPeaked; }

  static ExplanationTable by_class(const std::vector<TextGroup>& groups, const TestSummaryOptions& options) {
    ExplanationTable table{
        .title = "Median change of the output under permuted weights",
        .note =
            "The change of a text is the median over its permutations. Peaked weights: one token "
            "has half of the weight or more.",
        .columns = {"predicted class", "texts", "mean", "median", "texts with peaked weights", "median of those"}};
    for (const auto& group : groups) {
      const auto changes = numbers_of(group, "tvd"), of_peaked = numbers_of(peaked_of(group), "tvd");
      table.rows.push_back({group.name,
                            {count_cell(changes.size()), mean_cell(changes, options), median_cell(changes, options),
                             count_cell(of_peaked.size()), median_cell(of_peaked, options)}});
    }
    return table;
  }

  static ExplanationTable by_weight(const TextGroup& all, const TestSummaryOptions& options) {
    ExplanationTable table{.title = "By the largest weight of a text",
                           .columns = {"largest weight", "texts", "mean", "median"}};
    for (const auto& bin : groups_by_weight(all)) {
      const auto changes = numbers_of(bin, "tvd");
      table.rows.push_back(
          {bin.name, {count_cell(changes.size()), mean_cell(changes, options), median_cell(changes, options)}});
    }
    return table;
  }

  static TextGroup peaked_of(const TextGroup& group) {
    TextGroup some{.name = group.name};
    std::copy_if(group.records.begin(), group.records.end(), std::back_inserter(some.records),
                 [](const auto* record) { return peaked(*record); });
    return some;
  }

  static void conclude(ExplanationResult& result, const TextGroup& all, const TestSummaryOptions& options) {
    const auto changes = numbers_of(all, "tvd"), of_peaked = numbers_of(peaked_of(all), "tvd");
    if (changes.empty()) {
      result.finding = "No text has weights that differ from token to token, so there is nothing to permute.";
      return;
    }
    result.figure_name = of_peaked.size() < options.min_texts ? "median TVD" : "median TVD of peaked weights";
    result.figure = median_cell(of_peaked.size() < options.min_texts ? changes : of_peaked, options);
    if (of_peaked.size() < options.min_texts) {
      result.finding = "The median change under permuted weights is " + with_interval(result.figure) + " over " +
                       std::to_string(changes.size()) + " texts, of which " + std::to_string(of_peaked.size()) +
                       " have peaked weights (half of the weight on one token), too few to conclude from.";
      return;
    }
    result.verdict = verdict_of(result.figure, of_peaked.size(), options, kAgainst, kFor);
    result.finding = "Where one token has half of the weight or more (" + std::to_string(of_peaked.size()) +
                     " texts), permuted weights change the output by a median of " + with_interval(result.figure) +
                     "; an interval below .1 speaks against the weights, one from .25 for them.";
  }

  int64_t samples_;
};

const Catalogue<ExplanationTest>::Entry permutation_entry{"permutation",
                                                          make_part<ExplanationTest, Permutation>,
                                                          {.formula = "median TVD(y(a permuted), y(a))",
                                                           .paper = "Jain & Wallace, 2019",
                                                           .cost = "100 calls of the attention model",
                                                           .choose = "whether the output depends on the weights at all",
                                                           .order = 3}};

}  // namespace
}  // namespace heed
