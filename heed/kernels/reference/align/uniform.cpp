// Uniform:   a = 1 / n,   independent of the scores: the baseline of an ablation. A bias of -inf masks its key.

#include "heed/kernels/reference/align/soft.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Uniform final : public Alignment<Real> {
 public:
  explicit Uniform(const Options&) {}
  typename Alignment<Real>::Gives gives() const override {
    return {.entropy = true, .compares = false, .reads_scores = false};
  }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    const size_t n = row.scores.size();
    return soft_answer<Real>({List<Real>(n, Real(1 / static_cast<double>(n))), Real(-kInfinity)});
  }
};

}  // namespace

extern const AlignDefinitions::Entry uniform_alignment{"uniform", define<Uniform>, {}};

}  // namespace heed::kernels::reference
