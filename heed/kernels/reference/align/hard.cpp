// Hard (Xu et al., 2015): all weight on one key m, sampled from softmax(e), or the argmax.
//   log_probability = e_m - lse,   entropy = that of softmax(e)      both for REINFORCE

#include "heed/kernels/reference/align/gumbel.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Hard final : public Alignment<Real> {
 public:
  explicit Hard(const Options&) {}
  typename Alignment<Real>::Gives gives() const override {
    return {.entropy = true, .log_probability = true, .draws = true};
  }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    const size_t m = best_of(perturbed(row));
    const auto soft = softmax(row.scores);
    return {one_hot<Real>(row.scores.size(), m), Real(-kInfinity), entropy(soft.weights), row.scores[m] - soft.lse};
  }
};

}  // namespace

extern const AlignDefinitions::Entry hard_alignment{"hard", define<Hard>, {}};

}  // namespace heed::kernels::reference
