// Features of a Transformer encoder. Sinusoidal position encodings are added, unless positions is rotary or alibi.

#include <cmath>

#include "heed/models/components.h"
#include "heed/models/transformer_settings.h"
#include "heed/structures/encode/transformer_encoder.h"

namespace heed {
namespace {

class TransformerFeatures final : public FeatureModel {
 public:
  static RecipeKeyList keys() { return transformer_keys(); }
  TransformerFeatures(const Settings& s, int64_t in) : options_(completed(read_transformer(s, in))) {}
  void build() override { encoder_ = register_module("encoder", TransformerEncoder(options_)); }
  FeatureOutput encode(const Features& embedded, const Call& call) override {
    Transformed out = encoder_->encode(with_positions(embedded, encoder_->options(), is_training()), call);
    Tensor summary = mean(out.features).squeeze(1);
    return {{std::move(out.features), std::move(summary)}, std::move(out.steps)};
  }
  int64_t width() const override { return options_.dim; }

 private:
  TransformerOptions options_;
  TransformerEncoder encoder_{nullptr};
};

const ComponentEntry<FeatureModel, TransformerFeatures> transformer_features_entry{
    "transformer",
    {.formula = "x <- x + Att(x, x), x <- x + W_out act(W_in x), layer by layer",
     .paper = "Vaswani et al., 2017",
     .choose = "more data, long sequences, speed on a GPU",
     .order = 2}};

}  // namespace
}  // namespace heed
