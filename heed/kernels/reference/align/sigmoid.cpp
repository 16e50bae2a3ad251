// Sigmoid:   a = 1 / (1 + exp(-e)),   elementwise

#include "heed/kernels/reference/align.h"
#include "heed/kernels/reference/math.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Sigmoid final : public Alignment<Real> {
 public:
  explicit Sigmoid(const Options&) {}
  typename Alignment<Real>::Gives gives() const override { return {.compares = false}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    Aligned<Real> answer;
    for (const Real& e : row.scores) answer.weights.push_back(sigmoid(e));
    return answer;
  }
};

}  // namespace

extern const AlignDefinitions::Entry sigmoid_alignment{"sigmoid", define<Sigmoid>, {}};

}  // namespace heed::kernels::reference
