// Gumbel-softmax (Jang et al., 2017; Maddison et al., 2017):   a = softmax((e + g) / t),   not sampling: the argmax

#include "heed/kernels/reference/align/gumbel.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class GumbelSoftmax final : public Alignment<Real> {
 public:
  explicit GumbelSoftmax(const Options& options) : temperature_(read_temperature(options)) {}
  typename Alignment<Real>::Gives gives() const override { return {.entropy = true, .draws = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    if (row.draws.empty()) return {one_hot<Real>(row.scores.size(), best_of(row.scores))};
    return soft_answer(softmax(tempered(row, temperature_)));
  }

 private:
  double temperature_;
};

}  // namespace

extern const AlignDefinitions::Entry gumbel_softmax_alignment{
    "gumbel_softmax", define<GumbelSoftmax>, {.variants = {"gumbel_softmax(.5)"}}};

}  // namespace heed::kernels::reference
