// Identity:   a = e,   not normalized

#include "heed/kernels/reference/align.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Identity final : public Alignment<Real> {
 public:
  explicit Identity(const Options&) {}
  typename Alignment<Real>::Gives gives() const override { return {.compares = false}; }
  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override { return {row.scores}; }
};

}  // namespace

extern const AlignDefinitions::Entry identity_alignment{"identity", define<Identity>, {}};

}  // namespace heed::kernels::reference
