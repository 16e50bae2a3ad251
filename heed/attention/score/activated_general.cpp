// Activated general score (Ma et al., 2017; Zheng & Xia, 2018):   e = act(k . (W q) + b),   act = tanh
//
// Scores are in (-1, 1), so a large norm of a key cannot dominate. Softmax over them is never sharp (at most
// e^2 / (e^2 + n - 1)); set Call::scale above 1 for sharper weights. Per channel (lift): one W and b for each.

#include "heed/attention/activation.h"
#include "heed/attention/score.h"

namespace heed {
namespace {

class ActivatedGeneral final : public Score {
 public:
  explicit ActivatedGeneral(const Options& options) : act_(options) {}

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    if (s.dimensionality == Dimensionality::lift)
      return {{"from_query", {s.value_dim, s.key_dim, s.query_dim}}, {"bias", {s.value_dim}, kZeros}};
    return {{"from_query", {s.key_dim, s.query_dim}}, {"bias", {1}, kZeros}};
  }
  std::string refuse(Dimensionality d) const override {
    return only(d, Dimensionality::lift, "it has no hidden layer");
  }
  Tensor prepare_query(const Parameters& p, const Tensor& query) const override {
    const auto& weight = p["from_query"];
    const bool single = p.sizes().dimensionality == Dimensionality::single;
    return project(query, single ? weight : weight.flatten(-3, -2));
  }
  Tensor score(const Parameters& p, const Tensor& query, const Tensor& keys) const override {
    return act_(channel_products(query, keys, p.sizes().width()) + p.spread("bias", /*between=*/2));
  }
  TiledScore kernel(Dimensionality d) const override {
    return single_only(d, TiledScore{.activation = act_.in_kernels()});
  }
  ScoreTensors tile(const Parameters& p, const Tensor& query, const Tensor& keys) const override {  // [W q; b] . [k; 1]
    const auto bias = p.spread("bias", /*between=*/1).expand({query.size(0), query.size(1), query.size(2), 1});
    return {.query = at::cat({query, bias}, -1), .keys = at::cat({keys, at::ones_like(keys.narrow(-1, 0, 1))}, -1)};
  }
  int64_t floats_per_pair(const Sizes&) const override { return 4; }

 private:
  Activation act_;
};

const Catalogue<Score>::Entry activated_general_entry{"activated_general",
                                                      make_part<Score, ActivatedGeneral>,
                                                      {.formula = "act(k . (W q) + b)",
                                                       .paper = "Ma et al., 2017",
                                                       .cost = "Lq Lk Dk",
                                                       .choose = "as general, bounded: no key wins by its norm",
                                                       .variants = {"activated_general(sigmoid)"},
                                                       .synonyms = {"activated_bilinear"},
                                                       .order = 6}};

}  // namespace
}  // namespace heed
