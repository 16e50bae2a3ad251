// Features of a recurrent encoder: each token with its left and right context.

#include "heed/models/components.h"

namespace heed {
namespace {

struct RecurrentValues {
  int64_t dim = 512, num_layers = 1;
  std::string cell = "gru";
  bool bidirectional = true;
  double dropout = 0;
};

const RecipeTable<RecurrentValues> recurrent_keys{
    {"dim", &RecurrentValues::dim, "width of the features, of both directions together", {.min = 1, .max = kMaxWidth}},
    {"num_layers", &RecurrentValues::num_layers, "layers", {.min = 1, .max = 64}},
    {"cell", &RecurrentValues::cell, "recurrent cell", {.choices = {"gru", "lstm"}}},
    {"bidirectional", &RecurrentValues::bidirectional, "whether the input is read in both directions"},
    {"dropout", &RecurrentValues::dropout, "dropout between layers", {.min = 0, .max = 0.99}}};

class RecurrentFeatures final : public FeatureModel {
 public:
  static RecipeKeyList keys() { return recurrent_keys.list(); }
  RecurrentFeatures(const Settings& s, int64_t in) {
    const RecurrentValues v = recurrent_keys.read(s);
    options_.in_dim = in;
    options_.out_dim = v.dim;
    options_.num_layers = v.num_layers;
    options_.cell = v.cell == "gru" ? Cell::gru : Cell::lstm;
    options_.bidirectional = v.bidirectional;
    options_.dropout = v.dropout;
    if (v.bidirectional && v.dim % 2 != 0)
      s.refuse("dim", "is ", v.dim, ", expected an even number: two directions share it");
  }
  void build() override { encoder_ = register_module("encoder", Recurrent(options_)); }
  FeatureOutput encode(const Features& embedded, const Call&) override { return {encoder_->encode(embedded)}; }
  int64_t width() const override { return options_.out_dim; }

 private:
  RecurrentOptions options_;
  Recurrent encoder_{nullptr};
};

const ComponentEntry<FeatureModel, RecurrentFeatures> recurrent_features_entry{
    "recurrent",
    {.formula = "h_l = cell(f_l, h_{l-1}), g_l = cell(f_l, g_{l+1}), [h_l; g_l]",
     .paper = "Bahdanau et al., 2015",
     .choose = "sequences, little data",
     .synonyms = {"rnn", "bidirectional_rnn"},
     .order = 1}};

}  // namespace
}  // namespace heed
