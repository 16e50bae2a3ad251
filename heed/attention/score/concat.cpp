// Concat score (Luong et al., 2015):   e = w . act(W [q; k]),   act = tanh
//
// The additive score with one matrix and no bias. W [q; k] = W_q q + W_k k, so the two halves are projected separately
// and never concatenated.

#include "heed/attention/score/hidden_layer.h"

namespace heed {
namespace {

class Concat final : public HiddenLayer {
 public:
  explicit Concat(const Options& options) : HiddenLayer(options) {}

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    std::vector<ParameterSpec> all{{"from_both", {hidden(s), s.query_dim + s.key_dim}}};
    add_to_scores(s, all);
    return all;
  }
  Tensor prepare_query(const Parameters& p, const Tensor& query) const override {
    return project(query, p["from_both"].narrow(-1, 0, p.sizes().query_dim));
  }
  Tensor prepare_keys(const Parameters& p, const Tensor& keys) const override {
    return project(keys, p["from_both"].narrow(-1, p.sizes().query_dim, p.sizes().key_dim));
  }
};

const Catalogue<Score>::Entry concat_entry{"concat",
                                           make_part<Score, Concat>,
                                           {.formula = "w . act(W [q; k])",
                                            .paper = "Luong et al., 2015",
                                            .cost = "Lq Lk Dh",
                                            .choose = "as additive, with one matrix and no bias",
                                            .synonyms = {"concatenate", "concatenation", "luong_concat"},
                                            .order = 8}};

}  // namespace
}  // namespace heed
