// Location score (Luong et al., 2015):   e_j = (W q)_j
//
// The score depends on the query and the position of the key, not on its content. W has one row for each of the first
// `max` positions; keys beyond them cannot be scored and count as masked. Per channel (lift): one W for each.

#include "heed/attention/score.h"

namespace heed {
namespace {

class Location final : public Score {
 public:
  explicit Location(const Options& options) : max_(options.integer("max", 512)) {
    check(max_ > 0, "score/location: max is ", max_, ", expected at least 1");
  }

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    if (s.dimensionality == Dimensionality::lift) return {{"from_query", {s.value_dim, max_, s.query_dim}}};
    return {{"from_query", {max_, s.query_dim}}};
  }
  std::string refuse(Dimensionality d) const override {
    return only(d, Dimensionality::lift, "it has no hidden layer");
  }
  Tensor prepare_query(const Parameters& p, const Tensor& query) const override {
    const auto& weight = p["from_query"];
    const bool single = p.sizes().dimensionality == Dimensionality::single;
    return project(query, single ? weight : weight.flatten(-3, -2));  // [B, H, Lq, W * max]
  }
  Tensor score(const Parameters& p, const Tensor& query, const Tensor& keys) const override {
    const int64_t Lk = keys.size(-2), known = std::min(Lk, max_);
    const auto all = query.view({query.size(0), query.size(1), query.size(2), p.sizes().width(), max_});
    const auto some = all.narrow(-1, 0, known);
    return at::constant_pad_nd(some, {0, Lk - known}).transpose(-1, -2);  // [B, H, Lq, Lk, W]
  }
  TiledScore kernel(Dimensionality d) const override { return single_only(d, TiledScore{.kind = ScoreKind::table}); }
  ScoreTensors tile(const Parameters&, const Tensor& query, const Tensor& keys) const override {
    return {.query = query.narrow(-1, 0, std::min(keys.size(-2), max_))};
  }

  bool positional() const override { return true; }
  int64_t max_keys() const override { return max_; }

 private:
  int64_t max_;
};

const Catalogue<Score>::Entry location_entry{"location",
                                             make_part<Score, Location>,
                                             {.formula = "(W q)_j",
                                              .paper = "Luong et al., 2015",
                                              .cost = "Lq Dq max",
                                              .choose = "the position alone decides",
                                              .variants = {"location(5)"},
                                              .synonyms = {"location_based"},
                                              .order = 11}};

}  // namespace
}  // namespace heed
