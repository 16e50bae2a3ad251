// Identity alignment:   a_j = e_j
//
// No normalization: a plain weighted sum. Memory networks start training with it (Sukhbaatar et al., 2015, linear
// start).

#include "heed/attention/align.h"

namespace heed {
namespace {

class Identity final : public Alignment {
 public:
  explicit Identity(const Options&) {}
  Aligned align(const Parameters&, const Scored& in) const override { return {.weights = in.scores}; }
  TiledAlignment kernel(Dimensionality d, bool) const override {
    return single_only(d, TiledAlignment{.kind = AlignKind::identity});
  }
  Offers offers() const override { return {.entropy = false, .log_weights = false, .compares = false}; }
};

const Catalogue<Alignment>::Entry identity_entry{"identity",
                                                 make_part<Alignment, Identity>,
                                                 {.formula = "e_j",
                                                  .paper = "Sukhbaatar et al., 2015",
                                                  .cost = "Lq Lk",
                                                  .choose = "unnormalized sums; linear start",
                                                  .synonyms = {"unnormalized"},
                                                  .order = 14}};

}  // namespace
}  // namespace heed
