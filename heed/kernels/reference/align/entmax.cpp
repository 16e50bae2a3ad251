// Entmax (Peters et al., 2019): between softmax (alpha -> 1) and sparsemax (alpha = 2).
//   a = max(x - tau, 0)^(1 / (alpha - 1)),   x = (alpha - 1) (e - best),   tau such that the weights sum to 1
// Bisection finds the real tau and with it the support. Newton steps on the support then give tau its gradients with
// respect to the scores and alpha.    learned: alpha = 1.01 + .99 sigmoid(to_alpha)

#include "heed/base/check.h"
#include "heed/kernels/reference/align/soft.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Entmax final : public Alignment<Real> {
 public:
  explicit Entmax(const Options& options) : alpha_(options.number("alpha", 1.5)), learned_(options.flag("learned")) {
    check(alpha_ > 1 && alpha_ <= 2, "alignment/entmax: alpha is ", alpha_,
          ", expected a number in (1, 2]; for 1 take softmax");
  }
  typename Alignment<Real>::Gives gives() const override { return {.entropy = true}; }

  std::vector<Declared> parameters(const Sizes&) const override {
    return learned_ ? std::vector<Declared>{{"to_alpha", {1}}} : std::vector<Declared>{};
  }

  Aligned<Real> align(const HeadParameters<Real>& p, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    const Real alpha = learned_ ? 1.01 + 0.99 * sigmoid(p["to_alpha"][0]) : Real(alpha_);
    const double best = re(row.scores[best_of(row.scores)]);
    List<Real> x;
    for (const Real& e : row.scores) x.push_back((alpha - 1.0) * (e - best));

    const Real power = 1.0 / (alpha - 1.0);
    Real tau(tau_by_halving(x, re(power)));
    for (int step = 0; step < 2; ++step) {
      Real excess(-1), derivative(0);  // sum (x - tau)^power - 1, and its derivative with respect to -tau
      for (const Real& one : x) {
        if (re(one) <= re(tau)) continue;
        excess += std::pow(one - tau, power);
        derivative += power * std::pow(one - tau, power - 1.0);
      }
      tau += excess / derivative;
    }
    List<Real> weights;
    for (const Real& one : x) weights.push_back(re(one) > re(tau) ? Real(std::pow(one - tau, power)) : Real(0));
    return soft_answer<Real>({std::move(weights), Real(-kInfinity)});
  }

 private:
  /// The largest x is 0. At tau = -1 that key alone has weight 1; at tau = -(1/n)^(1/power) no weight is above 1/n.
  static double tau_by_halving(const List<Real>& x, double power) {
    double low = -1, high = -std::pow(1.0 / static_cast<double>(x.size()), 1 / power);
    for (;;) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) return low;
      double sum = 0;
      for (const Real& one : x) {
        if (re(one) > middle) sum += std::pow(re(one) - middle, power);
      }
      (sum >= 1 ? low : high) = middle;
    }
  }

  double alpha_;
  bool learned_;
};

}  // namespace

extern const AlignDefinitions::Entry entmax_alignment{
    "entmax", define<Entmax>, {.variants = {"entmax(1.2)", "entmax(2)", "entmax(learned)"}}};

}  // namespace heed::kernels::reference
