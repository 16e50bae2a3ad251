// Gumbel-softmax alignment (Jang et al., 2017; Maddison et al., 2017): a soft draw of one key.
//
//   a = softmax((e + g) / t),  g = -log(-log u)
//
// Nearer to one key the smaller the temperature t. When nothing is drawn it decides: all weight to the
// best key, without a gradient.

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
    soft.lse.reset();  // of noisy scores: not what a caller would mean
    return soft;
  }
  Kernel kernel(Dimensionality d) const override { return single_kernel(d, "softmax"); }
  TiledAlignment tiled(const Parameters&, const Scored& in) const override {
    using kernels::fused::AlignKind;
    if (!in.draw.sample) return {.kind = AlignKind::straight_through, .constant = true};
    return {.kind = AlignKind::softmax, .perturb = true, .temperature = temperature_};
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
