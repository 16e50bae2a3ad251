// Softmax alignment (soft, global):   a_j = exp(e_j) / sum_l exp(e_l)

#include "heed/attention/align.h"

namespace heed {
namespace {

class Softmax final : public Alignment {
 public:
  explicit Softmax(const Options&) {}
  Aligned align(const Parameters&, const Scored& in) const override { return normalized(in.scores, in.keep); }
  TiledAlignment kernel(Dimensionality, bool) const override { return {.kind = AlignKind::softmax}; }
  Offers offers() const override { return {.lse = true}; }
};

const Catalogue<Alignment>::Entry softmax_entry{"softmax",
                                                make_part<Alignment, Softmax>,
                                                {.formula = "exp(e_j) / sum exp(e)",
                                                 .paper = "Bahdanau et al., 2015",
                                                 .cost = "Lq Lk",
                                                 .choose = "the default",
                                                 .synonyms = {"soft", "global"},
                                                 .order = 1}};

}  // namespace
}  // namespace heed
