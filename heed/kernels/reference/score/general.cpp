// General (Luong et al., 2015):   e = k . (W q)

#include "heed/kernels/reference/score/bilinear.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class General final : public Bilinear<Real> {
 public:
  General(const Options&, Form) {}

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes& s) const override {
    return for_each_channel<Real>(s, [&](int64_t c) { return dot<Real>(pair.key, this->projected(p, pair, c, s)); });
  }
};

}  // namespace

extern const ScoreDefinitions::Entry general_score{"general", define<General>, {}};

}  // namespace heed::kernels::reference
