// Biased general (Sordoni et al., 2016):   e = k . (W q + b)

#include "heed/kernels/reference/score/bilinear.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class BiasedGeneral final : public Bilinear<Real> {
 public:
  BiasedGeneral(const Options&, Form) {}

  std::vector<Declared> parameters(const Sizes& s) const override {
    return {{"from_query", this->stacked(s, {s.keys, s.query})}, {"bias", this->stacked(s, {s.keys})}};
  }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes& s) const override {
    return for_each_channel<Real>(s, [&](int64_t c) {
      auto x = this->projected(p, pair, c, s);          // [Dk]
      const auto bias = part(p["bias"], c, s.width());  // [Dk]
      for (size_t d = 0; d < x.size(); ++d) x[d] += bias[d];
      return dot<Real>(pair.key, x);
    });
  }
};

}  // namespace

extern const ScoreDefinitions::Entry biased_general_score{"biased_general", define<BiasedGeneral>, {}};

}  // namespace heed::kernels::reference
