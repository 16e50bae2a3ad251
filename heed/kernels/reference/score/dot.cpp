// Dot, or multiplicative (Luong et al., 2015):   e = q . k

#include "heed/kernels/reference/score/grouped.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Dot final : public Grouped<Real> {
 public:
  Dot(const Options&, Form) : Grouped<Real>("dot") {}

 protected:
  Real formula(const HeadParameters<Real>&, Features<Real> q, Features<Real> k) const override { return dot(q, k); }
};

}  // namespace

extern const ScoreDefinitions::Entry dot_score{"dot", define<Dot>, {}};

}  // namespace heed::kernels::reference
