// Sparsemax alignment (Martins & Astudillo, 2016): the point of the simplex nearest to the scores.
//
//   a = max(e - tau, 0),   tau such that the weights sum to one
//
// With the scores sorted, e(1) >= e(2) >= ..., the r best keys share the weight, where
//
//   r = the largest with  1 + r e(r) > e(1) + ... + e(r),    tau = (e(1) + ... + e(r) - 1) / r
//
// The support is constant in backward: differentiating tau over the support alone gives the exact Jacobian.

#include "heed/attention/align.h"

namespace heed {
namespace {

class Sparsemax final : public Alignment {
 public:
  explicit Sparsemax(const Options&) {}

  Aligned align(const Parameters&, const Scored& in) const override {
    const auto scores = absent(in.scores, in.keep);
    const auto best = scores.detach().amax(kKeyAxis, /*keepdim=*/true);
    const auto e = scores - best;  // keeps the sums below near 0
    const auto sorted = std::get<0>(e.detach().sort(kKeyAxis, /*descending=*/true));
    const auto total = sorted.cumsum(kKeyAxis);
    const auto rank = in.key_index + 1;  // [Lk, 1]
    const auto count = (1 + rank * sorted > total).sum(kKeyAxis, /*keepdim=*/true).clamp_min(1);
    const auto support = e.detach() >= sorted.gather(kKeyAxis, count - 1);
    const auto sum = e.masked_fill(support.logical_not(), 0.0).sum(kKeyAxis, /*keepdim=*/true);
    const auto tau = (sum - 1) / support.sum(kKeyAxis, /*keepdim=*/true);
    const auto weights = (e - tau).masked_fill(support.logical_not(), 0.0);
    return {.weights = passing_on(weights, best)};
  }
  TiledAlignment kernel(Dimensionality d, bool) const override {
    return single_only(d, TiledAlignment{.kind = AlignKind::sparsemax});
  }
};

const Catalogue<Alignment>::Entry sparsemax_entry{"sparsemax",
                                                  make_part<Alignment, Sparsemax>,
                                                  {.formula = "max(e_j - tau, 0)",
                                                   .paper = "Martins & Astudillo, 2016",
                                                   .cost = "Lq Lk log Lk",
                                                   .choose = "exact zeros, trained by backpropagation",
                                                   .order = 3}};

}  // namespace
}  // namespace heed
