// Biased general score (Sordoni et al., 2016):   e = k . (W q + b)
//
// The bias term b . k is independent of the query. Per channel (lift): one W and b for each.

#include "heed/attention/score.h"

namespace heed {
namespace {

class BiasedGeneral final : public Score {
 public:
  explicit BiasedGeneral(const Options&) {}

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    if (s.dimensionality == Dimensionality::lift)
      return {{"from_query", {s.value_dim, s.key_dim, s.query_dim}}, {"bias", {s.value_dim, s.key_dim}, kZeros}};
    return {{"from_query", {s.key_dim, s.query_dim}}, {"bias", {s.key_dim}, kZeros}};
  }
  std::string refuse(Dimensionality d) const override {
    return only(d, Dimensionality::lift, "it has no hidden layer");
  }
  Tensor prepare_query(const Parameters& p, const Tensor& query) const override {
    const auto &weight = p["from_query"], &bias = p["bias"];
    if (p.sizes().dimensionality == Dimensionality::single) return project(query, weight, bias);
    return project(query, weight.flatten(-3, -2), bias.flatten(-2, -1));
  }
  Tensor score(const Parameters& p, const Tensor& query, const Tensor& keys) const override {
    return channel_products(query, keys, p.sizes().width());
  }
  TiledScore kernel(Dimensionality d) const override { return single_only(d, TiledScore{}); }
};

const Catalogue<Score>::Entry biased_general_entry{"biased_general",
                                                   make_part<Score, BiasedGeneral>,
                                                   {.formula = "k . (W q + b)",
                                                    .paper = "Sordoni et al., 2016",
                                                    .cost = "Lq Lk Dk",
                                                    .choose = "as general, where some keys matter for every query",
                                                    .synonyms = {"biased_bilinear"},
                                                    .order = 7}};

}  // namespace
}  // namespace heed
