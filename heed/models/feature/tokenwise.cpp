// Features of each token alone: an affine map and tanh of its embedding, without context (Wiegreffe & Pinter, 2019).
//
//   f_l = tanh(W x_l + b)
//
// Attention over them is all that a model knows of a text as a whole.

#include <torch/nn/modules/linear.h>

#include "heed/models/components.h"

namespace heed {
namespace {

struct TokenwiseValues {
  int64_t dim = 256;
};

const RecipeTable<TokenwiseValues> tokenwise_keys{
    {"dim", &TokenwiseValues::dim, "width of the features", {.min = 1, .max = kMaxWidth}}};

class TokenwiseFeatures final : public FeatureModel {
 public:
  static RecipeKeyList keys() { return tokenwise_keys.list(); }
  TokenwiseFeatures(const Settings& s, int64_t in) : dim_(tokenwise_keys.read(s).dim), in_(in) {}
  void build() override { layer_ = register_module("layer", torch::nn::Linear(in_, dim_)); }
  FeatureOutput encode(const Features& embedded, const Call&) override {
    const Tensor rows = at::tanh(layer_(embedded.without_padding().rows));
    // Under autocast the layer gives bfloat16.
    const Features out = embedded.with_rows(rows.to(embedded.rows.scalar_type())).without_padding();
    return {{out, mean(out).squeeze(1)}};
  }
  int64_t width() const override { return dim_; }

 private:
  int64_t dim_, in_;
  torch::nn::Linear layer_{nullptr};
};

const ComponentEntry<FeatureModel, TokenwiseFeatures> tokenwise_features_entry{
    "tokenwise",
    {.formula = "f_l = tanh(W x_l + b)",
     .paper = "Wiegreffe & Pinter, 2019",
     .choose = "to see what attention does without context",
     .synonyms = {"mlp"},
     .order = 5}};

}  // namespace
}  // namespace heed
