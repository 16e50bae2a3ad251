// Activated general (Ma et al., 2017):   e = act(k . (W q) + b),   b a scalar      bounded under tanh

#include "heed/kernels/reference/math.h"
#include "heed/kernels/reference/score/bilinear.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class ActivatedGeneral final : public Bilinear<Real> {
 public:
  ActivatedGeneral(const Options& options, Form)
      : activate_(activation<Real>(options.choice("activation", activation_names()))) {}

  std::vector<Declared> parameters(const Sizes& s) const override {
    return {{"from_query", this->stacked(s, {s.keys, s.query})}, {"bias", {s.width()}}};
  }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes& s) const override {
    return for_each_channel<Real>(s, [&](int64_t c) {
      return activate_(dot<Real>(pair.key, this->projected(p, pair, c, s)) + p["bias"][static_cast<size_t>(c)]);
    });
  }

 private:
  Activation<Real> activate_;
};

}  // namespace

extern const ScoreDefinitions::Entry activated_general_score{
    "activated_general", define<ActivatedGeneral>, {.variants = {"activated_general(elu)"}}};

}  // namespace heed::kernels::reference
