// Features of a recurrent encoder: each token with its left and right context.

#include "heed/models/components.h"

namespace heed {
namespace {

class RecurrentFeatures final : public FeatureModel {
 public:
  RecurrentFeatures(const Settings& s, int64_t in) {
    RecurrentOptions o;
    o.in_dim = in;
    o.out_dim = s.integer("dim", 512, 1, kMaxWidth);
    o.num_layers = s.integer("num_layers", 1, 1, 64);
    o.cell = s.choice("cell", {"gru", "lstm"}) == "gru" ? Cell::gru : Cell::lstm;
    o.bidirectional = s.flag("bidirectional", true);
    o.dropout = s.number("dropout", 0, 0, 0.99);
    if (o.bidirectional && o.out_dim % 2 != 0)
      s.refuse("dim", "is ", o.out_dim, ", expected an even number: two directions share it");
    encoder_ = register_module("encoder", Recurrent(o));
  }
  FeatureOutput encode(const Features& embedded, const Call&) override { return {encoder_->encode(embedded)}; }
  int64_t width() const override { return encoder_->options().out_dim; }

 private:
  Recurrent encoder_{nullptr};
};

const FeatureModel::Parts::Entry recurrent_features_entry{
    "recurrent",
    make_component<FeatureModel, RecurrentFeatures, Settings, int64_t>,
    {.formula = "h_l = cell(f_l, h_{l-1}), g_l = cell(f_l, g_{l+1}), [h_l; g_l]",
     .paper = "Bahdanau et al., 2015",
     .choose = "sequences, little data",
     .synonyms = {"rnn", "bidirectional_rnn"},
     .order = 1}};

}  // namespace
}  // namespace heed
