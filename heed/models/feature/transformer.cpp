// Features of a Transformer encoder. Sinusoidal position encodings are added, unless positions is rotary or alibi.

#include <cmath>

#include "heed/models/components.h"
#include "heed/models/transformer_settings.h"
#include "heed/structures/encode/transformer_encoder.h"

namespace heed {
namespace {

struct ClassTokenValues {
  bool class_token = false;
};

const RecipeTable<ClassTokenValues> class_token_keys{
    {"class_token", &ClassTokenValues::class_token,
     "whether a learned token is read before the others; its feature is then the summary (Devlin et al., 2019)"}};

class TransformerFeatures final : public FeatureModel {
 public:
  static RecipeKeyList keys() { return all_keys({transformer_keys(), class_token_keys.list()}); }
  TransformerFeatures(const Settings& s, int64_t in)
      : options_(completed(read_transformer(s, in))), has_class_token_(class_token_keys.read(s).class_token), in_(in) {}
  void build() override {
    encoder_ = register_module("encoder", TransformerEncoder(options_));
    if (has_class_token_)
      class_token_ = register_parameter("class_token", at::randn({in_}) / std::sqrt(static_cast<double>(in_)));
  }
  FeatureOutput encode(const Features& embedded, const Call& call) override {
    const Features given = has_class_token_ ? with_class_token(embedded) : embedded;
    Transformed out = encoder_->encode(with_positions(given, encoder_->options(), is_training()), call);
    if (!has_class_token_) {
      Tensor summary = mean(out.features).squeeze(1);
      return {{std::move(out.features), std::move(summary)}, std::move(out.steps)};
    }
    const Tensor& rows = out.features.rows;
    return {{embedded.with_rows(rows.narrow(1, 1, rows.size(1) - 1)), rows.select(1, 0)}, std::move(out.steps)};
  }
  int64_t width() const override { return options_.dim; }

 private:
  Features with_class_token(const Features& embedded) const {
    const int64_t B = embedded.batch();
    Features all = embedded;
    all.rows = at::cat({class_token_.to(embedded.rows.scalar_type()).expand({B, 1, in_}), embedded.rows}, 1);
    if (embedded.keep.defined()) all.keep = at::cat({at::ones({B, 1}, embedded.keep.options()), embedded.keep}, 1);
    return all;
  }

  TransformerOptions options_;
  bool has_class_token_;
  int64_t in_;
  Tensor class_token_;
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
