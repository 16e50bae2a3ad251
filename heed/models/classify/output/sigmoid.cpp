// Any number of several classes:   p(y_k) = sigmoid(w_k c + b_k)

#include <torch/nn/modules/linear.h>

#include "heed/models/classify/label_output.h"

namespace heed {
namespace {

class SigmoidLabels final : public LabelOutput {
 public:
  static RecipeKeyList keys() { return {}; }
  explicit SigmoidLabels(const Settings&) {}
  LabelForm form() const override { return LabelForm::several; }
  void build(const Pooled& like, const LabelSet& labels) override {
    to_classes_ = register_module("to_classes", torch::nn::Linear(like.rows.size(-1), labels.size()));
  }
  /// The sum over classes of -log p; a weight counts where the class applies and where it does not.
  Tensor loss(const Pooled& context, const Tensor& wanted, const LabelLossOptions& options) override {
    const Tensor smooth = wanted * (1 - options.smoothing) + 0.5 * options.smoothing;
    return at::binary_cross_entropy_with_logits(to_classes_(context.rows).to(at::kFloat), smooth, options.weights, {},
                                                at::Reduction::Sum);
  }
  Tensor predict(const Pooled& context) override { return at::sigmoid(to_classes_(context.rows).to(at::kFloat)); }

 private:
  torch::nn::Linear to_classes_{nullptr};
};

const ComponentEntry<LabelOutput, SigmoidLabels> sigmoid_entry{"sigmoid",
                                                               {.formula = "p(y_k) = sigmoid(w_k c + b_k)",
                                                                .paper = "-",
                                                                .choose = "any number of several classes",
                                                                .synonyms = {"multi_label"},
                                                                .order = 2}};

}  // namespace
}  // namespace heed
