// Logits of classes from outputs t:   W t + b, or E P t + b with the target embeddings E (Press & Wolf, 2017)

#include <torch/nn/modules/linear.h>

#include "heed/backend/linear_cross_entropy.h"
#include "heed/models/components.h"

namespace heed {
namespace {

struct SoftmaxValues {
  bool tied = true;
};

const RecipeTable<SoftmaxValues> softmax_keys{
    {"tied", &SoftmaxValues::tied, "whether the output weights are the target embeddings (Press & Wolf, 2017)"}};

class SoftmaxOutput final : public OutputModel {
 public:
  static RecipeKeyList keys() { return softmax_keys.list(); }
  SoftmaxOutput(const Settings& s, const OutputOptions& o)
      : options_(o), tied_(softmax_keys.read(s, {.tied = o.embedding_dim > 0}).tied) {
    if (tied_ && o.embedding_dim == 0) s.refuse("tied", "is true, but these targets have no embeddings to share");
  }
  void build(int64_t classes, const Tensor& embedding) override {
    if (!tied_) {
      to_classes_ = register_module("to_classes", torch::nn::Linear(options_.in, classes));
      return;
    }
    embedding_ = embedding;
    bias_ = register_parameter("bias", at::zeros({classes}));
    if (options_.in != options_.embedding_dim)
      to_embedding_ = register_module("to_embedding", torch::nn::Linear(options_.in, options_.embedding_dim));
  }
  Tensor logits(const Tensor& outputs) override {
    const Linear last = last_of(outputs);
    return at::linear(last.x, last.weight, last.bias);
  }
  Tensor cross_entropy(const Tensor& outputs, const Tensor& wanted, const CrossEntropyOptions& options) override {
    const Linear last = last_of(outputs);
    return linear_cross_entropy(last.x, last.weight, last.bias, wanted, options);
  }

 private:
  /// The last layer, with its input.
  struct Linear {
    Tensor x, weight, bias;
  };
  Linear last_of(const Tensor& outputs) {
    if (to_classes_) return {outputs, to_classes_->weight, to_classes_->bias};
    return {to_embedding_ ? to_embedding_(outputs) : outputs, embedding_, bias_};
  }

  OutputOptions options_;
  bool tied_ = false;
  torch::nn::Linear to_classes_{nullptr}, to_embedding_{nullptr};
  Tensor embedding_, bias_;  // the embedding is registered by its owner, not here
};

const ComponentEntry<OutputModel, SoftmaxOutput> softmax_output_entry{
    "softmax",
    {.formula = "p(y) = softmax(W t + b)",
     .paper = "-",
     .choose = "one of many classes, words among them",
     .order = 1}};

}  // namespace
}  // namespace heed
