// Softmax:   a_j = exp(e_j) / sum exp(e)

#include "heed/kernels/reference/align/soft.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Softmax final : public Alignment<Real> {
 public:
  explicit Softmax(const Options&) {}
  typename Alignment<Real>::Gives gives() const override { return {.lse = true, .entropy = true}; }
  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    return soft_answer(softmax(row.scores));
  }
};

}  // namespace

extern const AlignDefinitions::Entry softmax_alignment{"softmax", define<Softmax>, {}};

}  // namespace heed::kernels::reference
