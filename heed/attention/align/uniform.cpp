// Uniform alignment:   a_j = 1 / n over the n kept keys, independent of the scores
//
// Mean pooling, a baseline for ablations. A key is kept unless it is masked or has a bias of -inf; scores are not
// computed and get no gradient.

#include "heed/attention/align.h"

namespace heed {
namespace {

class Uniform final : public Alignment {
 public:
  explicit Uniform(const Options&) {}
  Aligned align(const Parameters&, const Scored& in) const override {
    const auto keep = in.keep.to(in.scores.scalar_type()).expand_as(in.scores);
    const auto count = keep.sum(kKeyAxis, /*keepdim=*/true).clamp_min(1);
    return {.weights = keep / count};
  }
  TiledAlignment kernel(Dimensionality d, bool) const override {
    return single_only(d, TiledAlignment{.kind = AlignKind::uniform});
  }
  Offers offers() const override { return {.compares = false, .scores = false}; }
};

const Catalogue<Alignment>::Entry uniform_entry{"uniform",
                                                make_part<Alignment, Uniform>,
                                                {.formula = "1 / n",
                                                 .paper = "Wiegreffe & Pinter, 2019",
                                                 .cost = "Lq Lk",
                                                 .choose = "the baseline of an ablation",
                                                 .synonyms = {"mean_pooling", "average_pooling"},
                                                 .order = 13}};

}  // namespace
}  // namespace heed
