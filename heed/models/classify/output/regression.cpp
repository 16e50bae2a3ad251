// A number:   y = mean + deviation (w c + b), with the mean and the deviation of the training labels; the loss is the
// squared error in deviations.

#include <torch/nn/modules/linear.h>

#include "heed/models/classify/label_output.h"

namespace heed {
namespace {

class RegressionLabel final : public LabelOutput {
 public:
  static RecipeKeyList keys() { return {}; }
  explicit RegressionLabel(const Settings&) {}
  LabelForm form() const override { return LabelForm::number; }
  bool takes_options() const override { return false; }
  void build(const Pooled& like, const LabelSet&) override {
    to_number_ = register_module("to_number", torch::nn::Linear(like.rows.size(-1), 1));
  }
  Tensor loss(const Pooled& context, const Tensor& wanted, const LabelLossOptions&) override {
    return at::mse_loss(predict(context).squeeze(-1), wanted, at::Reduction::Sum);
  }
  Tensor predict(const Pooled& context) override { return to_number_(context.rows).to(at::kFloat); }

 private:
  torch::nn::Linear to_number_{nullptr};
};

const ComponentEntry<LabelOutput, RegressionLabel> regression_entry{
    "regression",
    {.formula = "y = mean + deviation (w c + b)", .paper = "-", .choose = "a number, such as a rating", .order = 3}};

}  // namespace
}  // namespace heed
