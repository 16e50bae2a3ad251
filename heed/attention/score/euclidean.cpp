// Euclidean score (similarity):   e = -|q - k|^2,   or with root   e = -|q - k|
//
// Negated: the nearest key scores highest. The root's slope, -(q - k) / r, is 0 at r = 0; below 1e-8 it
// is divided by 1e-8 instead. Differences are formed one by one: 2 q.k - |q|^2 - |k|^2 would cancel. Kernels take that
// form all the same, of vectors counted from the mean key, where a common offset cancels before it is squared.
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
  Kernel kernel(Dimensionality d) const override { return single_kernel(d, root_ ? "distance" : "dot"); }
  TiledScore tiled(const Parameters&, const Tensor& query, const Tensor& keys) const override {
    if (root_) return {.kind = kernels::fused::ScoreKind::distance, .query = query, .keys = keys};
    const auto mean = keys.detach().mean(-2, /*keepdim=*/true).nan_to_num(0, 0, 0);  // distances do not depend on it
    const auto q = query - mean.repeat_interleave(query.size(1) / keys.size(1), 1), k = keys - mean;
    const auto square = [](const Tensor& x) { return x.square().sum(-1, /*keepdim=*/true); };
    const auto one = [](const Tensor& x) { return at::ones_like(x.narrow(-1, 0, 1)); };
    return {.query = at::cat({2 * q, one(q), -square(q)}, -1), .keys = at::cat({k, -square(k), one(k)}, -1)};
  }
  int64_t floats_per_pair(const Tensor& keys) const override { return 4 * keys.size(-1); }

 private:
  static Tensor root(const Tensor& square) {
    const auto near = square.detach() < kNearest * kNearest;
    const auto slope = square / (2 * kNearest);  // what has the slope wanted near 0
    const auto close = slope + (square.sqrt() - slope).detach();
    return at::where(near, close, square.masked_fill(near, 1.0).sqrt());
  }

  bool root_;
};

const Catalogue<Score>::Entry euclidean_entry{"euclidean",
                                              make_part<Score, Euclidean>,
                                              {.formula = "-|q - k|^2, or -|q - k|",
                                               .paper = "survey of Brauwers & Frasincar, 2021",
                                               .cost = "Lq Lk D",
                                               .choose = "nearness counts; points in a space",
                                               .variants = {"euclidean(root)"}}};

}  // namespace
}  // namespace heed
