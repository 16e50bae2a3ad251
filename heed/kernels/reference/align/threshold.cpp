// Threshold: keeps softmax weights of at least theta. The others still count in the normalizer, unless renorm.

#include "heed/base/check.h"
#include "heed/kernels/reference/align/soft.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Threshold final : public Alignment<Real> {
 public:
  explicit Threshold(const Options& options)
      : theta_(options.number("theta", 0.01)),
        renorm_(options.flag("renorm")),
        keep_best_(options.flag("keep_best", true)) {
    check(theta_ >= 0 && theta_ < 1, "alignment/threshold: theta is ", theta_, ", expected a number in [0, 1)");
  }
  typename Alignment<Real>::Gives gives() const override { return {.lse = true, .entropy = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    auto soft = softmax(row.scores);
    List<uint8_t> survives;
    for (const Real& a : soft.weights) survives.push_back(re(a) >= theta_);
    const bool nobody = std::find(survives.begin(), survives.end(), 1) == survives.end();
    if (nobody && keep_best_) survives[best_of(row.scores)] = 1;
    return soft_answer<Real>({filtered(std::move(soft.weights), survives, renorm_), soft.lse});
  }

 private:
  double theta_;
  bool renorm_, keep_best_;
};

}  // namespace

extern const AlignDefinitions::Entry threshold_alignment{
    "threshold", define<Threshold>, {.variants = {"threshold(.2, keep_best=false)", "threshold(.3, renorm)"}}};

}  // namespace heed::kernels::reference
