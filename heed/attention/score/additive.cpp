// Additive score (Bahdanau et al., 2015):   e = w . act(W_q q + W_k k + b),   act = tanh
//
// Query and key are projected to the hidden layer separately, so they may differ in size.

#include "heed/attention/score/hidden_layer.h"

namespace heed {
namespace {

class Additive final : public HiddenLayer {
 public:
  explicit Additive(const Options& options) : HiddenLayer(options), bias_(options.flag("bias", true)) {}

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    std::vector<ParameterSpec> all{{"from_query", {hidden(s), s.query_dim}}, {"from_keys", {hidden(s), s.key_dim}}};
    if (bias_) all.push_back({"bias", {hidden(s)}, kZeros});
    add_to_scores(s, all);
    return all;
  }
  Tensor prepare_query(const Parameters& p, const Tensor& query) const override {
    return project(query, p["from_query"], p.get("bias"));
  }
  Tensor prepare_keys(const Parameters& p, const Tensor& keys) const override { return project(keys, p["from_keys"]); }

 private:
  bool bias_;
};

const Catalogue<Score>::Entry additive_entry{"additive",
                                             make_part<Score, Additive>,
                                             {.formula = "w . act(W_q q + W_k k + b)",
                                              .paper = "Bahdanau et al., 2015",
                                              .cost = "Lq Lk Dh",
                                              .choose = "quality before speed; queries and keys of different widths",
                                              .variants = {"additive(relu)", "additive(gelu, bias=false)"},
                                              .synonyms = {"bahdanau", "mlp"},
                                              .order = 2}};

}  // namespace
}  // namespace heed
