// Entmax alignment (Peters et al., 2019): between softmax (alpha -> 1) and sparsemax (alpha = 2).
//
//   a = max((alpha - 1) e - tau, 0)^(1 / (alpha - 1)),   tau such that the weights sum to one
//
// tau is found by bisection, outside the autograd graph, followed by two Newton steps inside it. The first makes the
// gradient exact, the second the second derivative (each doubles the order), with respect to the scores and to alpha.
// alpha is a number in (1, 2], or learned (Correia et al., 2019) as 1.01 + 0.99 sigmoid(to_alpha), which keeps it in
// range and far enough from 1 to avoid cancellation.

#include <cmath>

#include "heed/attention/align.h"

namespace heed {
namespace {

constexpr double kMinAlpha = 1.01;  // of a learned alpha

class Entmax final : public Alignment {
 public:
  explicit Entmax(const Options& options) : alpha_(options.number("alpha", 1.5)), learned_(options.flag("learned")) {
    check(alpha_ > 1 && alpha_ <= 2, "alignment/entmax: alpha is ", alpha_,
          ", expected 1 < alpha <= 2 (softmax is alpha = 1)");
    check(!learned_ || (alpha_ > kMinAlpha && alpha_ < 2), "alignment/entmax: a learned alpha cannot start at ", alpha_,
          ", expected ", kMinAlpha, " < alpha < 2");
  }

  std::vector<ParameterSpec> parameters(const Sizes&) const override {
    if (!learned_) return {};
    const double part = (alpha_ - kMinAlpha) / (2 - kMinAlpha);
    return {{"to_alpha", {1}, {Initial::constant, std::log(part / (1 - part))}}};
  }

  Aligned align(const Parameters& p, const Scored& in) const override {
    const auto alpha_minus_one = learned_ ? kMinAlpha - 1 + (2 - kMinAlpha) * at::sigmoid(p.spread("to_alpha", 2))
                                          : at::full({1}, alpha_ - 1, in.scores.options());  // alpha - 1
    const auto best = absent(in.scores.detach(), in.keep).amax(kKeyAxis, /*keepdim=*/true);
    const auto z = absent(alpha_minus_one * (in.scores - best),
                          in.keep);  // applied last, so that alpha's gradient has no 0 * -inf
    const auto rough = bisect(z.detach(), alpha_minus_one.detach());
    const auto support = z.detach() > rough;
    auto tau = rough;
    for (int step = 0; step < 2; ++step) {
      const auto sum = power(z - tau, 1 / alpha_minus_one, support).sum(kKeyAxis, /*keepdim=*/true);
      const auto fall =
          (power(z - tau, 1 / alpha_minus_one - 1, support) / alpha_minus_one).sum(kKeyAxis, /*keepdim=*/true);
      tau = tau + (sum - 1) / fall;
    }
    const auto weights = power(z - tau, 1 / alpha_minus_one, support);
    return {.weights = passing_on(weights, best)};
  }

  TiledAlignment kernel(Dimensionality d, bool) const override {
    return single_only(d, TiledAlignment{.kind = AlignKind::entmax, .alpha = alpha_});
  }
  AlignmentTensors tile(const Parameters& p, const Scored&) const override {
    if (!learned_) return {};
    return {.alpha = kMinAlpha + (2 - kMinAlpha) * at::sigmoid(p["to_alpha"].flatten())};
  }

 private:
  /// x^exponent on the support, 0 elsewhere, with a gradient of 0 where x <= 0.
  static Tensor power(const Tensor& x, const Tensor& exponent, const Tensor& support) {
    const auto out = support.logical_not();
    const auto inside = support.logical_and(x.detach() > 0);
    return at::pow(x.masked_fill(inside.logical_not(), 1.0), exponent)
        .masked_fill(out.logical_or(inside.logical_not()), 0.0);
  }

  /// The root tau of  sum max(z - tau, 0)^(1 / (alpha - 1)) = 1.  With max z = 0 it lies in [-1, 0]: at -1 the best key
  /// alone has weight 1, at 0 all weights are 0.
  static Tensor bisect(const Tensor& z, const Tensor& alpha_minus_one) {
    const bool fine = z.scalar_type() == at::kDouble;
    auto low = at::full_like(z.narrow(kKeyAxis, 0, 1), -1.0);
    double width = 1;
    for (int i = 0; i < (fine ? 50 : 24); ++i) {
      width /= 2;
      const auto middle = low + width;
      const auto sum = at::pow((z - middle).clamp_min(0), 1 / alpha_minus_one).sum(kKeyAxis, /*keepdim=*/true);
      low = at::where(sum >= 1, middle, low);
    }
    return low;
  }

  double alpha_;
  bool learned_;
};

const Catalogue<Alignment>::Entry entmax_entry{"entmax",
                                               make_part<Alignment, Entmax>,
                                               {.formula = "max((alpha - 1) e_j - tau, 0)^(1 / (alpha - 1))",
                                                .paper = "Peters et al., 2019",
                                                .cost = "Lq Lk",
                                                .choose = "exact zeros, softer than sparsemax; alpha can be learned",
                                                .variants = {"entmax(1.3)", "entmax(2)", "entmax(1.5, learned)"},
                                                .synonyms = {"alpha_entmax"},
                                                .order = 2}};

}  // namespace
}  // namespace heed
