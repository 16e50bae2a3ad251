// Straight-through alignment (Bengio et al., 2013; Jang et al., 2017): one key forward, soft backward.
//
//   forward   a = 1[j = m],  m = argmax_j (e_j + g_j)
//   backward  as if   a = softmax((e + g) / t)   had been the weights
//
// Without sampling, g = 0.

#include "heed/attention/align.h"

namespace heed {
namespace {

class StraightThrough final : public Alignment {
 public:
  explicit StraightThrough(const Options& options) : temperature_(options.number("temperature", 1)) {
    check(temperature_ > 0, "alignment/straight_through: temperature is ", temperature_, ", expected more than 0");
  }

  Aligned align(const Parameters&, const Scored& in) const override {
    const auto tried = in.draw.sample ? in.scores + in.draw.gumbel(in.scores) : in.scores;
    const auto soft = normalized(tried / temperature_, in.keep).weights;
    // soft - soft.detach() is exactly 0, so the weights are exactly 0 and 1.
    const auto weights = best_key(tried, in.keep) + (soft - soft.detach());
    // The weights are one-hot: the entropy is constant 0.
    return {.weights = weights, .entropy = at::zeros_like(weights.detach().select(kKeyAxis, 0))};
  }
  TiledAlignment kernel(Dimensionality d, bool sample) const override {
    return single_only(
        d, TiledAlignment{.kind = AlignKind::straight_through, .perturb = sample, .temperature = temperature_});
  }

  Offers offers() const override { return {.draws = true}; }

 private:
  double temperature_;
};

const Catalogue<Alignment>::Entry straight_through_entry{"straight_through",
                                                         make_part<Alignment, StraightThrough>,
                                                         {.formula = "1[j = m]; backward softmax((e + g) / t)",
                                                          .paper = "Bengio et al., 2013",
                                                          .cost = "Lq Lk",
                                                          .choose = "exactly one key, trained by backpropagation",
                                                          .variants = {"straight_through(0.5)"},
                                                          .synonyms = {"straight_through_gumbel"},
                                                          .order = 7}};

}  // namespace
}  // namespace heed
