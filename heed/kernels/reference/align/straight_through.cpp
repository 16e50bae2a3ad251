// Straight-through (Bengio et al., 2013): one-hot like hard, with the gradients of softmax((e + g) / t).

#include "heed/kernels/reference/align/gumbel.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class StraightThrough final : public Alignment<Real> {
 public:
  explicit StraightThrough(const Options& options) : temperature_(read_temperature(options)) {}
  typename Alignment<Real>::Gives gives() const override { return {.entropy = true, .draws = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    const auto scores = tempered(row, temperature_);
    auto weights = softmax(scores).weights;
    const size_t m = best_of(scores);
    for (size_t j = 0; j < weights.size(); ++j) weights[j] = first_order(weights[j], j == m ? 1 : 0, 1);
    return {std::move(weights)};  // one-hot weights have entropy 0
  }

 private:
  double temperature_;
};

}  // namespace

extern const AlignDefinitions::Entry straight_through_alignment{
    "straight_through", define<StraightThrough>, {.variants = {"straight_through(2)"}}};

}  // namespace heed::kernels::reference
