// Top-k filter: the k largest softmax weights, the others 0; on ties the first key stays.
//
//   a_j = p_j 1[j among the k best],  p = softmax(e)          renorm: softmax over the k best

#include "heed/attention/align.h"

namespace heed {
namespace {

class TopK final : public Alignment {
 public:
  explicit TopK(const Options& options) : k_(options.integer("k", 8)), renorm_(options.flag("renorm")) {
    check(k_ >= 1, "alignment/top_k: k is ", k_, ", expected at least 1");
  }

  Aligned align(const Parameters&, const Scored& in) const override {
    const Aligned soft = normalized(in.scores, in.keep);
    const auto scores = absent(in.scores.detach(), in.keep);
    const int64_t k = std::min(k_, scores.size(kKeyAxis));
    const auto order = std::get<1>(scores.sort(/*stable=*/true, kKeyAxis, /*descending=*/true));
    const auto best = at::zeros_like(scores, at::kBool).scatter(kKeyAxis, order.narrow(kKeyAxis, 0, k), true);
    const auto stays = in.keep.logical_and(best);
    const auto weights = renorm_ ? normalized(in.scores, stays).weights : soft.weights;
    const auto filtered = weights.masked_fill(stays.logical_not(), 0.0);
    return {.weights = passing_on(filtered, soft.lse.unsqueeze(kKeyAxis)), .lse = soft.lse};
  }
  TiledAlignment kernel(Dimensionality d, bool) const override {
    return single_only(d, TiledAlignment{.kind = AlignKind::top_k, .k = k_, .renorm = renorm_});
  }
  Offers offers() const override { return {.lse = true}; }

 private:
  int64_t k_;
  bool renorm_;
};

const Catalogue<Alignment>::Entry top_k_entry{"top_k",
                                              make_part<Alignment, TopK>,
                                              {.formula = "the k largest of softmax(e)",
                                               .paper = "Zhao et al., 2019",
                                               .cost = "Lq Lk",
                                               .choose = "a fixed number of keys for each query",
                                               .variants = {"top_k(2)", "top_k(3, renorm)"},
                                               .synonyms = {"explicit_sparse"},
                                               .order = 9}};

}  // namespace
}  // namespace heed
