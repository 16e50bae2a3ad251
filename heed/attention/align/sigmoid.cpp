// Sigmoid alignment (gate):   a_j = 1 / (1 + exp(-e_j))
//
// Keys do not compete: any number of them may be attended, including none.

#include "heed/attention/align.h"

namespace heed {
namespace {

class Sigmoid final : public Alignment {
 public:
  explicit Sigmoid(const Options&) {}
  Aligned align(const Parameters&, const Scored& in) const override {
    return {.weights = at::sigmoid(in.scores), .log_weights = at::log_sigmoid(in.scores)};
  }
  TiledAlignment kernel(Dimensionality d, bool) const override {
    return single_only(d, TiledAlignment{.kind = AlignKind::sigmoid});
  }
  Offers offers() const override { return {.entropy = false, .compares = false}; }
};

const Catalogue<Alignment>::Entry sigmoid_entry{"sigmoid",
                                                make_part<Alignment, Sigmoid>,
                                                {.formula = "1 / (1 + exp(-e_j))",
                                                 .paper = "Ramapuram et al., 2024",
                                                 .cost = "Lq Lk",
                                                 .choose = "gates: keys do not compete",
                                                 .synonyms = {"gate", "gated"},
                                                 .order = 6}};

}  // namespace
}  // namespace heed
