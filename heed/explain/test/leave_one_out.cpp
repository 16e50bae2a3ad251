// Whether the tokens with large weights are those whose removal changes the output (Jain & Wallace, 2019):
//
//   delta_t = TVD(y without t, y)      the text is read again without token t
//   Kendall tau-b of the weights and delta
//
// Of independent classes and of numbers the mean absolute difference is in place of the TVD.

#include <algorithm>
#include <cstddef>
#include <vector>

#include <ATen/ATen.h>

#include "heed/explain/measured_text.h"
#include "heed/explain/token_agreement.h"

namespace heed {
namespace {

/// Outputs are of float: below this they differ by rounding errors.
const ImportanceName kRemoval{"change without the token", "removals", 1e-6};

class LeaveOneOutTest final : public ExplanationTest {
 public:
  explicit LeaveOneOutTest(const Options&) {}

  ExplanationResult card() const override {
    return {
        .title = "Weights and the removal of tokens",
        .paper = "Jain & Wallace, 2019",
        .means =
            "A tau of 1 says that tokens with larger weights change the output more, throughout, when the text "
            "is read without them.",
        .means_not =
            "A token that another one repeats changes nothing alone although both count, and a text with a "
            "gap is none that the model has learned from.",
        .notes = {"Jain & Wallace have, on SST with additive attention, for negative and positive predictions: .27 "
                  "and .32 with a recurrent encoder (significant: .33, .40 of the texts), .61 and .64 with features "
                  "of each token alone (.87, .89)."}};
  }

  std::string why_not(const ExplainedFacts& facts, bool) const override {
    return facts.attends ? "" : "the model has no weights of tokens";
  }

  std::vector<ExplanationRecord> measure(ExplainedBatch& batch, const TestContext& context) const override {
    return measure_agreement(batch, changes(batch, context.model->facts()), kRemoval, context);
  }

  ExplanationResult summarize(const std::vector<ExplanationRecord>& records,
                              const TestSummaryOptions& options) const override {
    return summarize_agreement(card(), records, kRemoval, options);
  }

 private:
  struct Removal {
    int64_t row = 0, slot = 0, tokens = 0;
  };

  /// [B, P, T]
  static Tensor changes(ExplainedBatch& batch, const ExplainedFacts& facts) {
    const int64_t T = batch.tokens(), P = batch.positions.size(1);
    std::vector<Removal> removals;
    const auto texts = measured_texts(batch);
    for (size_t b = 0; b < texts.size(); ++b)
      for (const int64_t slot : texts[b].slots)
        removals.push_back({static_cast<int64_t>(b), slot, std::ssize(texts[b].slots)});
    // Texts that are read together have about the same length.
    std::stable_sort(removals.begin(), removals.end(),
                     [](const Removal& one, const Removal& other) { return one.tokens < other.tokens; });
    const Tensor found = at::zeros({batch.size(), P, T}, at::kDouble);
    auto all = found.accessor<double, 3>();
    const int64_t at_once = variations_at_once(batch);
    for (int64_t first = 0; first < std::ssize(removals); first += at_once) {
      const int64_t count = std::min(at_once, std::ssize(removals) - first);
      const Tensor rows = at::empty({count}, at::kLong), removed = at::zeros({count, T}, at::kBool);
      for (int64_t n = 0; n < count; ++n) {
        const Removal& one = removals[static_cast<size_t>(first + n)];
        rows.data_ptr<int64_t>()[n] = one.row;
        removed.data_ptr<bool>()[n * T + one.slot] = true;
      }
      const Tensor row = rows.to(batch.keep.device());
      const Tensor outputs = batch.outputs_without(row, removed.to(batch.keep.device()));
      const Tensor distances = output_distances(batch, facts, row, outputs).contiguous();
      for (int64_t n = 0; n < count; ++n) {
        const Removal& one = removals[static_cast<size_t>(first + n)];
        for (int64_t p = 0; p < P; ++p) all[one.row][p][one.slot] = distances.data_ptr<double>()[n * P + p];
      }
    }
    return found;
  }
};

const Catalogue<ExplanationTest>::Entry leave_one_out_entry{
    "leave_one_out",
    make_part<ExplanationTest, LeaveOneOutTest>,
    {.formula = "tau_b(a, TVD(y(x without t), y(x)))",
     .paper = "Jain & Wallace, 2019",
     .cost = "each text is read once for each token",
     .choose = "as gradients, by what the model really does without the token",
     .order = 2}};

}  // namespace
}  // namespace heed
