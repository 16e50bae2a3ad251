// Gumbel-softmax alignment (Jang et al., 2017; Maddison et al., 2017): a relaxed sample of one key.
//
//   a = softmax((e + g) / t),  g = -log(-log u)
//
// The smaller the temperature t, the closer the weights are to one-hot. Without sampling the best key gets all weight,
// without a gradient.

#include "heed/attention/align.h"

namespace heed {
namespace {

class GumbelSoftmax final : public Alignment {
 public:
  explicit GumbelSoftmax(const Options& options) : temperature_(options.number("temperature", 1)) {
    check(temperature_ > 0, "alignment/gumbel_softmax: temperature is ", temperature_, ", expected more than 0");
  }

  Aligned align(const Parameters&, const Scored& in) const override {
    if (!in.draw.sample) return {.weights = best_key(in.scores, in.keep)};
    Aligned soft = normalized((in.scores + in.draw.gumbel(in.scores)) / temperature_, in.keep);
    soft.lse.reset();  // it would be the lse of noisy scores
    return soft;
  }
  TiledAlignment kernel(Dimensionality d, bool sample) const override {
    if (!sample) return single_only(d, TiledAlignment{.kind = AlignKind::straight_through, .constant = true});
    return single_only(d, TiledAlignment{.kind = AlignKind::softmax, .perturb = true, .temperature = temperature_});
  }

  Offers offers() const override { return {.draws = true}; }

 private:
  double temperature_;
};

const Catalogue<Alignment>::Entry gumbel_softmax_entry{
    "gumbel_softmax",
    make_part<Alignment, GumbelSoftmax>,
    {.formula = "softmax((e + g) / t)",
     .paper = "Jang et al., 2017",
     .cost = "Lq Lk",
     .choose = "hard attention trained by backpropagation, biased but smooth",
     .variants = {"gumbel_softmax(0.5)"},
     .synonyms = {"gumbel", "concrete"},
     .order = 8}};

}  // namespace
}  // namespace heed
