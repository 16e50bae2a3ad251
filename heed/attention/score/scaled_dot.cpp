// Scaled dot score (Vaswani et al., 2017):   e = q . k / sqrt(D)
//
// The dot product of vectors with unit variance has variance D; without the scale, softmax saturates for large D.
// Per channel (lift): as dot, with D the width of a group.

#include <cmath>

#include "heed/attention/score.h"

namespace heed {
namespace {

class ScaledDot final : public Score {
 public:
  explicit ScaledDot(const Options&) {}

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    check_same_width("score/scaled_dot", s);
    return {};
  }
  std::string refuse(Dimensionality d) const override {
    return only(d, Dimensionality::lift, "it has no hidden layer");
  }
  bool prepares() const override { return false; }
  Tensor score(const Parameters& p, const Tensor& query, const Tensor& keys) const override {
    const int64_t width = p.sizes().width();
    return products(query, keys, width) * scale(keys.size(-1) / std::max<int64_t>(width, 1));
  }
  TiledScore kernel(Dimensionality d) const override { return single_only(d, TiledScore{}); }
  ScoreTensors tile(const Parameters&, const Tensor& query, const Tensor& keys) const override {
    return {.query = query, .keys = keys, .scale = scale(keys.size(-1))};
  }

 private:
  static double scale(int64_t features) { return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(features, 1))); }
};

const Catalogue<Score>::Entry scaled_dot_entry{
    "scaled_dot",
    make_part<Score, ScaledDot>,
    {.formula = "q . k / sqrt(D)",
     .paper = "Vaswani et al., 2017",
     .cost = "Lq Lk D",
     .choose = "the default; needed when D is large. Self-attention: query, keys and values are one sequence",
     .synonyms = {"scaled_dot_product", "scaled_multiplicative"},
     .order = 1}};

}  // namespace
}  // namespace heed
