// Dot score (multiplicative; Luong et al., 2015):   e = q . k
//
// Per channel (lift): the features are split into one group for each channel, whose score is the dot product of the
// group.

#include "heed/attention/score.h"

namespace heed {
namespace {

class Dot final : public Score {
 public:
  explicit Dot(const Options&) {}

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    check_same_width("score/dot", s);
    return {};
  }
  std::string refuse(Dimensionality d) const override {
    return only(d, Dimensionality::lift, "it has no hidden layer");
  }
  bool prepares() const override { return false; }
  Tensor score(const Parameters& p, const Tensor& query, const Tensor& keys) const override {
    return products(query, keys, p.sizes().width());
  }
  TiledScore kernel(Dimensionality d) const override { return single_only(d, TiledScore{}); }
};

const Catalogue<Score>::Entry dot_entry{
    "dot",
    make_part<Score, Dot>,
    {.formula = "q . k",
     .paper = "Luong et al., 2015",
     .cost = "Lq Lk D",
     .choose = "speed first, few features; with a matrix W in between it is general",
     .synonyms = {"multiplicative", "dot_product", "inner_product", "luong_dot"},
     .order = 4}};

}  // namespace
}  // namespace heed
