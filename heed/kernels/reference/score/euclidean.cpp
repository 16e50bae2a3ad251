// Euclidean:   e = -|q - k|^2,   root: e = -|q - k|      negated, so that a near key has a large score

#include "heed/kernels/reference/math.h"
#include "heed/kernels/reference/score/grouped.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Euclidean final : public Grouped<Real> {
 public:
  Euclidean(const Options& options, Form) : Grouped<Real>("euclidean"), root_(options.flag("root")) {}

 protected:
  Real formula(const HeadParameters<Real>&, Features<Real> q, Features<Real> k) const override {
    Real squares(0);
    for (size_t d = 0; d < q.size(); ++d) squares += (q[d] - k[d]) * (q[d] - k[d]);
    return root_ ? -root(squares) : -squares;
  }

 private:
  bool root_;
};

}  // namespace

extern const ScoreDefinitions::Entry euclidean_score{"euclidean", define<Euclidean>, {.variants = {"euclidean(root)"}}};

}  // namespace heed::kernels::reference
