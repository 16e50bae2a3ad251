// Logits of classes from outputs t:   W t + b, or E P t + b with the target embeddings E (Press & Wolf, 2017)

#include <torch/nn/modules/linear.h>

#include "heed/models/components.h"

namespace heed {
namespace {

class SoftmaxOutput final : public OutputModel {
 public:
  SoftmaxOutput(const Settings& s, const OutputOptions& o) {
    const bool tied = s.flag("tied", o.embedding.defined());
    if (tied && !o.embedding.defined()) s.refuse("tied", "is true, but these targets have no embeddings to share");
    if (!tied) {
      to_classes_ = register_module("to_classes", torch::nn::Linear(o.in, o.classes));
      return;
    }
    embedding_ = o.embedding;
    bias_ = register_parameter("bias", at::zeros({o.classes}));
    if (o.in != embedding_.size(1))
      to_embedding_ = register_module("to_embedding", torch::nn::Linear(o.in, embedding_.size(1)));
  }
  Tensor logits(const Tensor& outputs) override {
    if (to_classes_) return to_classes_(outputs);
    return at::linear(to_embedding_ ? to_embedding_(outputs) : outputs, embedding_, bias_);
  }

 private:
  torch::nn::Linear to_classes_{nullptr}, to_embedding_{nullptr};
  Tensor embedding_, bias_;  // the embedding is registered by its owner, not here
};

const OutputModel::Parts::Entry softmax_output_entry{
    "softmax",
    make_component<OutputModel, SoftmaxOutput, Settings, OutputOptions>,
    {.formula = "p(y) = softmax(W t + b)",
     .paper = "-",
     .choose = "one of many classes, words among them",
     .order = 1}};

}  // namespace
}  // namespace heed
