// The token embeddings themselves as features, without context.

#include "heed/models/components.h"

namespace heed {
namespace {

class EmbeddingFeatures final : public FeatureModel {
 public:
  static RecipeKeyList keys() { return {}; }
  EmbeddingFeatures(const Settings&, int64_t in) : width_(in) {}
  FeatureOutput encode(const Features& embedded, const Call&) override {
    const Features clean = embedded.without_padding();
    return {{clean, mean(clean).squeeze(1)}};
  }
  int64_t width() const override { return width_; }

 private:
  int64_t width_;
};

const ComponentEntry<FeatureModel, EmbeddingFeatures> embedding_features_entry{
    "embedding",
    {.formula = "f_l = E x_l", .paper = "-", .choose = "to see what attention does without an encoder", .order = 3}};

}  // namespace
}  // namespace heed
