// Local, predictive (Luong et al., 2015): the query predicts a position p, counted from 0. S is the true length.
//   p = S sigmoid(w . tanh(W q)),   window: |j - min(floor p, S - 1)| <= D
//   g_j = exp(-(j - p)^2 / (2 sigma^2)),   sigma = D / 2
//   plain:        a = softmax(e) g          weights of the window, not normalized again: they sum to less than 1
//   renorm:       a = softmax(e + log g)
//   score_gauss:  a = softmax(e g)
// The window is centered at an integer, the Gaussian at the real p. D = 0: one key, g = 1.

#include "heed/kernels/reference/align/window.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class LocalP final : public Alignment<Real> {
 public:
  explicit LocalP(const Options& options)
      : window_(read_window(options)), form_(options.choice("form", {"plain", "renorm", "score_gauss"})) {}
  typename Alignment<Real>::Gives gives() const override { return {.lse = true, .entropy = true, .positional = true}; }

  std::vector<Declared> parameters(const Sizes& s) const override {
    return {{"from_query", {kHidden, s.query}}, {"to_position", {1, kHidden}}};
  }

  Aligned<Real> align(const HeadParameters<Real>& p, const ScoreRow<Real>& row) const override {
    const Real at = position(p, row);
    if (std::isnan(re(at))) return unknown<Real>(row.scores.size());
    const auto center = std::min(static_cast<int64_t>(std::floor(re(at))), row.key_count - 1);
    const auto inside = window(row, center, window_);
    List<Real> scores = row.scores, gauss;
    for (size_t j = 0; j < scores.size(); ++j) {
      const Real exponent = log_gauss(static_cast<double>(row.keys[j]) - at);
      gauss.push_back(std::exp(exponent));
      if (form_ == "renorm") scores[j] += exponent;
      if (form_ == "score_gauss") scores[j] *= gauss[j];
    }
    auto soft = softmax_inside(scores, inside);
    if (form_ == "plain") {
      for (size_t j = 0; j < scores.size(); ++j) {
        if (inside[j]) soft.weights[j] *= gauss[j];
      }
    }
    return soft_answer(std::move(soft));
  }

 private:
  static Real position(const HeadParameters<Real>& p, const ScoreRow<Real>& row) {
    const auto matrix = p["from_query"], last = p["to_position"];  // [Dh, Dq], [1, Dh]
    Real sum(0);
    for (size_t d = 0; d < last.size(); ++d) {
      Real x(0);
      for (size_t f = 0; f < row.query.size(); ++f) x += matrix[d * row.query.size() + f] * row.query[f];
      sum += last[d] * std::tanh(x);
    }
    return static_cast<double>(row.key_count) * sigmoid(sum);
  }

  /// -x^2 / (2 sigma^2)
  Real log_gauss(const Real& x) const {
    if (window_ == 0) return Real(0);
    const double sigma = static_cast<double>(window_) / 2;
    return -x * x / (2 * sigma * sigma);
  }

  int64_t window_;
  std::string form_;
};

}  // namespace

extern const AlignDefinitions::Entry local_p_alignment{
    "local_p",
    define<LocalP>,
    {.variants = {"local_p(2)", "local_p(2, renorm)", "local_p(2, score_gauss)", "local_p(0)"}}};

}  // namespace heed::kernels::reference
