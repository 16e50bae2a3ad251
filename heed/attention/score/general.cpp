// General score (bilinear; Luong et al., 2015):   e = k . (W q)
//
// Per channel (lift): one W for each channel.

#include "heed/attention/score.h"

namespace heed {
namespace {

class General final : public Score {
 public:
  explicit General(const Options&) {}

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    if (s.dimensionality == Dimensionality::lift) return {{"from_query", {s.value_dim, s.key_dim, s.query_dim}}};
    return {{"from_query", {s.key_dim, s.query_dim}}};
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
    return channel_products(query, keys, p.sizes().width());
  }
  TiledScore kernel(Dimensionality d) const override { return single_only(d, TiledScore{}); }
};

const Catalogue<Score>::Entry general_entry{"general",
                                            make_part<Score, General>,
                                            {.formula = "k . (W q)",
                                             .paper = "Luong et al., 2015",
                                             .cost = "Lq Lk Dk",
                                             .choose = "queries and keys from different spaces, or of different widths",
                                             .synonyms = {"bilinear", "luong", "luong_general"},
                                             .order = 3}};

}  // namespace
}  // namespace heed
