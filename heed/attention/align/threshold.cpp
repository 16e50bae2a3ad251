// Threshold filter: softmax, then weights below theta are set to 0.
//
//   a_j = p_j 1[p_j >= theta],  p = softmax(e)          renorm: divided by the sum of the remaining weights
//
// The set of remaining keys is constant in backward. Without renorm a dropped score still has a gradient through the
// normalizer; with renorm, the weights are softmax over the remaining keys. The best key remains even below theta. With
// keep_best=false more than 1 / theta equal scores leave no key: context and gradient are 0, and a model whose scores
// start out equal never leaves that state.

#include "heed/attention/align.h"

namespace heed {
namespace {

class Threshold final : public Alignment {
 public:
  explicit Threshold(const Options& options)
      : theta_(options.number("theta", 0.01)),
        renorm_(options.flag("renorm")),
        keep_best_(options.flag("keep_best", true)) {
    check(theta_ >= 0 && theta_ < 1, "alignment/threshold: theta is ", theta_, ", expected 0 <= theta < 1");
  }

  Aligned align(const Parameters&, const Scored& in) const override {
    Aligned soft = normalized(in.scores, in.keep);
    auto stays = in.keep.logical_and(soft.weights.detach() >= theta_);
    if (keep_best_) stays = stays.logical_or(best_key(in.scores, in.keep) > 0);
    const auto weights = renorm_ ? normalized(in.scores, stays).weights : soft.weights;
    const auto filtered = weights.masked_fill(stays.logical_not(), 0.0);
    return {.weights = passing_on(filtered, soft.lse.unsqueeze(kKeyAxis)), .lse = soft.lse};
  }
  TiledAlignment kernel(Dimensionality d, bool) const override {
    return single_only(
        d, TiledAlignment{.kind = AlignKind::threshold, .theta = theta_, .renorm = renorm_, .keep_best = keep_best_});
  }
  Offers offers() const override { return {.lse = true}; }

 private:
  double theta_;
  bool renorm_, keep_best_;
};

const Catalogue<Alignment>::Entry threshold_entry{
    "threshold",
    make_part<Alignment, Threshold>,
    {.formula = "p_j 1[p_j >= theta], p = softmax(e)",
     .paper = "the filter some texts call hard",
     .cost = "Lq Lk",
     .choose = "softmax without its tail",
     .variants = {"threshold(0.2, renorm)", "threshold(0.4)", "threshold(0.4, keep_best=false)"},
     .order = 10}};

}  // namespace
}  // namespace heed
