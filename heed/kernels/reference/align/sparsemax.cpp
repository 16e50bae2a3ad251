// Sparsemax (Martins & Astudillo, 2016): the point of the simplex nearest to the scores.
//   a = max(e - tau, 0),   tau = (e(1) + ... + e(r) - 1) / r,   e(1) >= e(2) >= ... the scores sorted
//   r the largest with  1 + r e(r) > e(1) + ... + e(r)

#include "heed/kernels/reference/align/soft.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Sparsemax final : public Alignment<Real> {
 public:
  explicit Sparsemax(const Options&) {}
  typename Alignment<Real>::Gives gives() const override { return {.entropy = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    const auto order = ranked(row.scores);
    const double best = re(row.scores[order[0]]);  // subtracted first, so that large scores lose no digits
    Real sum(0), tau(0);
    for (size_t r = 1; r <= order.size(); ++r) {
      const Real e = row.scores[order[r - 1]] - best;
      sum += e;
      if (1 + static_cast<double>(r) * re(e) > re(sum)) tau = (sum - 1.0) / static_cast<double>(r);
    }
    List<Real> weights;
    for (const Real& e : row.scores) weights.push_back(re(e) - best > re(tau) ? e - best - tau : Real(0));
    return soft_answer<Real>({std::move(weights), Real(-kInfinity)});
  }
};

}  // namespace

extern const AlignDefinitions::Entry sparsemax_alignment{"sparsemax", define<Sparsemax>, {}};

}  // namespace heed::kernels::reference
