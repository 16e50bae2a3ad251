// Euclidean score (similarity):   e = -|q - k|^2,   or with root   e = -|q - k|
//
// Negative, so that the nearest key has the highest score. The gradient of the root, -(q - k) / r, is 0 at r = 0; below
// r = 1e-8 the divisor is 1e-8. Kernels also compute the differences themselves: 2 q.k - |q|^2 - |k|^2 would cancel.
// Per channel (lift): the distance within each group of features.

#include "heed/attention/score.h"

namespace heed {
namespace {

constexpr double kNearest = 1e-8;

class Euclidean final : public Score {
 public:
  explicit Euclidean(const Options& options) : root_(options.flag("root")) {}

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    check_same_width("score/euclidean", s);
    return {};
  }
  std::string refuse(Dimensionality d) const override {
    return only(d, Dimensionality::lift, "it has no hidden layer");
  }
  Tensor score(const Parameters& p, const Tensor& query, const Tensor& keys) const override {
    const auto apart = query.unsqueeze(-2) - keys.unsqueeze(-3);  // [B, H, Lq, Lk, D]
    auto shape = apart.sizes().vec();
    shape.back() = p.sizes().width();
    shape.push_back(-1);
    const auto square = apart.view(shape).square().sum(-1);  // [B, H, Lq, Lk, W]
    return root_ ? -root(square) : -square;
  }
  TiledScore kernel(Dimensionality d) const override {
    return single_only(d, TiledScore{.kind = root_ ? ScoreKind::distance : ScoreKind::squared_distance});
  }
  int64_t floats_per_pair(const Sizes& s) const override { return 4 * s.key_dim; }

 private:
  static Tensor root(const Tensor& square) {
    const auto near = square.detach() < kNearest * kNearest;
    const auto linear = square / (2 * kNearest);  // has the gradient described above near 0
    const auto close = linear + (square.sqrt() - linear).detach();
    return at::where(near, close, square.masked_fill(near, 1.0).sqrt());
  }

  bool root_;
};

const Catalogue<Score>::Entry euclidean_entry{"euclidean",
                                              make_part<Score, Euclidean>,
                                              {.formula = "-|q - k|^2, or -|q - k|",
                                               .paper = "survey of Brauwers & Frasincar, 2023",
                                               .cost = "Lq Lk D",
                                               .choose = "nearness counts; points in a space",
                                               .variants = {"euclidean(root)"},
                                               .synonyms = {"distance", "euclidean_distance"},
                                               .order = 10}};

}  // namespace
}  // namespace heed
