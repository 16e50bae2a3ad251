// Hard alignment (Xu et al., 2015): one key for each query, sampled from softmax(e); without sampling, the best key.
//
//   m = argmax_j (e_j + g_j),  g = -log(-log u)        a_j = 1[j = m]        log p(m) = e_m - lse
//
// The sample has no gradient: scores are trained by REINFORCE, through log p(m) and the entropy of softmax(e) (see
// Reinforce). Xu's training with soft weights in some steps is the same call with softmax: hard has no parameters of
// its own.

#include "heed/attention/align.h"

namespace heed {
namespace {

class Hard final : public Alignment {
 public:
  explicit Hard(const Options&) {}

  Aligned align(const Parameters&, const Scored& in) const override {
    const Aligned soft = normalized(in.scores, in.keep);
    const auto tried = in.draw.sample ? in.scores.detach() + in.draw.gumbel(in.scores) : in.scores;
    const auto chosen = best_key(tried, in.keep);
    const auto log_weights = soft.log_weights.masked_fill(in.keep.logical_not(), 0.0);
    return {.weights = chosen,
            .log_weights = soft.log_weights,
            .entropy = -(soft.weights * log_weights).sum(kKeyAxis),
            .log_probability = (chosen * log_weights).sum(kKeyAxis)};
  }
  TiledAlignment kernel(Dimensionality d, bool sample) const override {
    return single_only(d, TiledAlignment{.kind = AlignKind::hard, .perturb = sample});
  }

  Offers offers() const override { return {.log_probability = true, .draws = true}; }
};

const Catalogue<Alignment>::Entry hard_entry{"hard",
                                             make_part<Alignment, Hard>,
                                             {.formula = "1[j = m], m ~ softmax(e)",
                                              .paper = "Xu et al., 2015",
                                              .cost = "Lq Lk",
                                              .choose = "exactly one key; learns by reward",
                                              .synonyms = {"stochastic", "non_deterministic"},
                                              .order = 11}};

}  // namespace
}  // namespace heed
