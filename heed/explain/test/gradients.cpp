// Whether the tokens with large weights are those that the output depends on, by gradients (Jain & Wallace, 2019):
//
//   g_t = sum_c |dy_c / dx_t . x_t|      x_t: the embedding of token t; y: the outputs, with the weights fixed
//   Kendall tau-b of the weights and g
//
// The weights have no gradient, so that g is what the tokens do through the values that are weighted. Of outputs that
// sum to 1 the last class follows from the others. Of more than 16 classes, or tokens of a target vocabulary, g is that
// of the most probable one at each position.

#include <ATen/ATen.h>
#include <torch/autograd.h>

#include "heed/explain/predicted.h"
#include "heed/explain/token_agreement.h"

namespace heed {
namespace {

constexpr int64_t kMaxClasses = 16;
const ImportanceName kGradient{"gradient", "gradients"};

class Gradients final : public ExplanationTest {
 public:
  explicit Gradients(const Options&) {}

  ExplanationResult card() const override {
    return {
        .title = "Weights and gradients",
        .paper = "Jain & Wallace, 2019",
        .means =
            "A tau of 1 says that tokens with larger weights have larger gradients throughout: the weights order "
            "the tokens as the output depends on them, to first order.",
        .means_not =
            "Gradients are no truth either: they are of one point, with the weights fixed, and what an "
            "encoder has mixed into the state of a token is counted for the tokens it is from.",
        .notes = {"Jain & Wallace have, on SST with additive attention, for negative and positive predictions: .34 "
                  "and .36 with a recurrent encoder (significant: .48, .49 of the texts), .61 and .60 with features "
                  "of each token alone (.87, .83)."}};
  }

  std::string why_not(const ExplainedFacts& facts, bool) const override {
    return facts.attends ? "" : "the model has no weights of tokens";
  }

  std::vector<ExplanationRecord> measure(ExplainedBatch& batch, const TestContext& context) const override {
    return measure_agreement(batch, gradients(batch, context.model->facts()), kGradient, context);
  }

  ExplanationResult summarize(const std::vector<ExplanationRecord>& records,
                              const TestSummaryOptions& options) const override {
    return summarize_agreement(card(), records, kGradient, options);
  }

 private:
  /// [B, P, T]
  static Tensor gradients(ExplainedBatch& batch, const ExplainedFacts& facts) {
    const int64_t P = batch.positions.size(1), C = batch.outputs.size(-1);
    const Tensor found = at::zeros({batch.size(), P, batch.tokens()}, at::kDouble);
    const at::AutoGradMode with_gradients(true);
    const Tensor embedded = batch.embedded().detach().clone().requires_grad_();
    const Tensor rows = at::arange(batch.size(), batch.keep.options().dtype(at::kLong));
    Tensor outputs = batch.outputs_from(rows, embedded, /*fixed_weights=*/true);  // [B, P, C]
    if (!outputs.requires_grad() || outputs.numel() == 0) return found;
    const bool chosen = C > kMaxClasses;
    if (chosen) outputs = outputs.gather(-1, predicted_classes(batch).unsqueeze(-1));
    const bool sums_to_one = !chosen && !facts.several && !facts.number && C > 1;
    const int64_t classes = outputs.size(-1) - (sums_to_one ? 1 : 0);
    for (int64_t p = 0; p < P; ++p) {
      Tensor size, signed_sum;
      for (int64_t c = 0; c < classes; ++c) {
        const bool last = p + 1 == P && c + 1 == classes;
        const Tensor gradient = torch::autograd::grad({outputs.select(1, p).select(1, c).sum()}, {embedded}, {},
                                                      /*retain_graph=*/!last, /*create_graph=*/false,
                                                      /*allow_unused=*/true)[0];
        if (!gradient.defined()) continue;
        const Tensor along = (gradient.detach() * embedded.detach()).sum(-1).to(at::kDouble);  // [B, T]
        size = size.defined() ? size + along.abs() : along.abs();
        signed_sum = signed_sum.defined() ? signed_sum + along : along;
      }
      if (!size.defined()) continue;
      if (sums_to_one) size = size + signed_sum.abs();
      found.select(1, p).copy_(size);
    }
    return found;
  }
};

const Catalogue<ExplanationTest>::Entry gradients_entry{
    "gradients",
    make_part<ExplanationTest, Gradients>,
    {.formula = "tau_b(a, sum_c |dy_c/dx_t . x_t|)",
     .paper = "Jain & Wallace, 2019",
     .cost = "one backward for each position and class",
     .choose = "the first test of a model: fast, and compared in most papers",
     .order = 1}};

}  // namespace
}  // namespace heed
