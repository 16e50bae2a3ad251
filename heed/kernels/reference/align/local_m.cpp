// Local, monotonic (Luong et al., 2015): softmax within `window` of the query's own position.
// The window of a position beyond the keys may be empty; clamp: it is then centered at the last key.

#include "heed/kernels/reference/align/window.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class LocalM final : public Alignment<Real> {
 public:
  explicit LocalM(const Options& options) : window_(read_window(options)), clamp_(options.flag("clamp")) {}
  typename Alignment<Real>::Gives gives() const override { return {.lse = true, .entropy = true, .positional = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    const int64_t center = clamp_ ? std::min(row.position, row.key_count - 1) : row.position;
    return soft_answer(softmax_inside(row.scores, window(row, center, window_)));
  }

 private:
  int64_t window_;
  bool clamp_;
};

}  // namespace

extern const AlignDefinitions::Entry local_m_alignment{
    "local_m", define<LocalM>, {.variants = {"local_m(1)", "local_m(1, clamp)"}}};

}  // namespace heed::kernels::reference
