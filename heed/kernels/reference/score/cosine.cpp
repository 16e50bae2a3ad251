// Cosine (Graves et al., 2014):   e = sharpness q . k / (max(|q|, 1e-8) max(|k|, 1e-8))
// |x| = sqrt(sum x^2). A vector shorter than 1e-8 counts as constant: it gets no gradient; the formula's would be 1e8.

#include "heed/kernels/reference/math.h"
#include "heed/kernels/reference/score/grouped.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Cosine final : public Grouped<Real> {
 public:
  Cosine(const Options& options, Form)
      : Grouped<Real>("cosine"), sharpness_(options.number("sharpness", 1)), learned_(options.flag("learned")) {}

  std::vector<Declared> parameters(const Sizes&) const override {
    return learned_ ? std::vector<Declared>{{"log_sharpness", {1}}} : std::vector<Declared>{};
  }

 protected:
  Real formula(const HeadParameters<Real>& p, Features<Real> q, Features<Real> k) const override {
    const Real sharpness = learned_ ? std::exp(p["log_sharpness"][0]) : Real(sharpness_);
    return sharpness * dot<Real>(direction(q), direction(k));
  }

 private:
  static std::vector<Real> direction(Features<Real> x) {
    const Real length = root(dot(x, x));
    const bool short_one = re(length) < 1e-8;
    std::vector<Real> y;
    for (const Real& one : x) y.push_back(short_one ? constant(one) / 1e-8 : one / length);
    return y;
  }

  double sharpness_;
  bool learned_;
};

}  // namespace

extern const ScoreDefinitions::Entry cosine_score{
    "cosine", define<Cosine>, {.variants = {"cosine(sharpness=3)", "cosine(learned)"}}};

}  // namespace heed::kernels::reference
