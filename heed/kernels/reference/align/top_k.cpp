// Top-k: keeps the k largest softmax weights. The others still count in the normalizer, unless renorm.

#include "heed/base/check.h"
#include "heed/kernels/reference/align/soft.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class TopK final : public Alignment<Real> {
 public:
  explicit TopK(const Options& options) : k_(options.integer("k", 8)), renorm_(options.flag("renorm")) {
    check(k_ >= 1, "alignment/top_k: k is ", k_, ", expected at least 1");
  }
  typename Alignment<Real>::Gives gives() const override { return {.lse = true, .entropy = true}; }

  Aligned<Real> align(const HeadParameters<Real>&, const ScoreRow<Real>& row) const override {
    if (has_nan(row.scores)) return unknown<Real>(row.scores.size());
    auto soft = softmax(row.scores);
    List<uint8_t> survives(row.scores.size(), 0);
    const auto order = ranked(row.scores);
    for (size_t rank = 0; rank < order.size() && static_cast<int64_t>(rank) < k_; ++rank) survives[order[rank]] = 1;
    return soft_answer<Real>({filtered(std::move(soft.weights), survives, renorm_), soft.lse});
  }

 private:
  int64_t k_;
  bool renorm_;
};

}  // namespace

extern const AlignDefinitions::Entry top_k_alignment{
    "top_k", define<TopK>, {.variants = {"top_k(2)", "top_k(2, renorm)"}}};

}  // namespace heed::kernels::reference
