// Scaled dot (Vaswani et al., 2017):   e = q . k / sqrt(Dk),   lifted: the width of a group

#include <cmath>

#include "heed/kernels/reference/score/grouped.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class ScaledDot final : public Grouped<Real> {
 public:
  ScaledDot(const Options&, Form) : Grouped<Real>("scaled_dot") {}

 protected:
  Real formula(const HeadParameters<Real>&, Features<Real> q, Features<Real> k) const override {
    return dot(q, k) / std::sqrt(static_cast<double>(k.size()));
  }
};

}  // namespace

extern const ScoreDefinitions::Entry scaled_dot_score{"scaled_dot", define<ScaledDot>, {}};

}  // namespace heed::kernels::reference
