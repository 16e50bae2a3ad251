// One of several classes:   p(y) = softmax(W c + b)

#include <torch/nn/modules/linear.h>

#include "heed/backend/linear_cross_entropy.h"
#include "heed/models/classify/label_output.h"

namespace heed {
namespace {

/// For texts, or for their tokens.
template <LabelForm kForm>
class SoftmaxLabels final : public LabelOutput {
 public:
  static RecipeKeyList keys() { return {}; }
  explicit SoftmaxLabels(const Settings&) {}
  LabelForm form() const override { return kForm; }
  void build(const Pooled& like, const LabelSet& labels) override {
    to_classes_ = register_module("to_classes", torch::nn::Linear(like.rows.size(-1), labels.size()));
  }
  Tensor loss(const Pooled& context, const Tensor& wanted, const LabelLossOptions& options) override {
    const Tensor rows = context.rows.flatten(0, -2), classes = wanted.flatten();
    if (!options.weights.defined())
      return linear_cross_entropy(rows, to_classes_->weight, to_classes_->bias, classes,
                                  {.smoothing = options.smoothing, .ignored = kNoLabel});
    return at::cross_entropy_loss(to_classes_(rows).to(at::kFloat), classes, options.weights, at::Reduction::Sum,
                                  kNoLabel, options.smoothing);
  }
  Tensor predict(const Pooled& context) override { return at::softmax(to_classes_(context.rows).to(at::kFloat), -1); }

 private:
  torch::nn::Linear to_classes_{nullptr};
};

const ComponentEntry<LabelOutput, SoftmaxLabels<LabelForm::one>> softmax_entry{
    "softmax", {.formula = "p(y) = softmax(W c + b)", .paper = "-", .choose = "one of several classes", .order = 1}};
const ComponentEntry<LabelOutput, SoftmaxLabels<LabelForm::tokens>> token_softmax_entry{
    "token_softmax",
    {.formula = "p(y_l) = softmax(W c_l + b)",
     .paper = "-",
     .choose = "a class for each word",
     .synonyms = {"tagging", "sequence_labeling"},
     .order = 4}};

}  // namespace
}  // namespace heed
