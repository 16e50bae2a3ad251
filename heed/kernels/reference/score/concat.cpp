// Concat (Luong et al., 2015):   e = w . act(W [q; k])

#include "heed/kernels/reference/score/hidden_layer.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Concat final : public HiddenLayer<Real> {
 public:
  using HiddenLayer<Real>::HiddenLayer;

  std::vector<Declared> parameters(const Sizes& s) const override {
    std::vector<Declared> all{{"from_both", {this->hidden(s), s.query + s.keys}}};
    this->declare_last(s, all);
    return all;
  }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes&) const override {
    std::vector<Real> both(pair.query.begin(), pair.query.end());
    both.insert(both.end(), pair.key.begin(), pair.key.end());
    return this->finish(p, product<Real>(p["from_both"], both));
  }
};

}  // namespace

extern const ScoreDefinitions::Entry concat_score{"concat", define<Concat>, {.variants = {"concat(gelu)"}}};

}  // namespace heed::kernels::reference
