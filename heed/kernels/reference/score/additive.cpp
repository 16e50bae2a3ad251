// Additive (Bahdanau et al., 2015):   e = w . act(W_q q + W_k k + b)      the bias is inside the activation

#include "heed/kernels/reference/score/hidden_layer.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class Additive final : public HiddenLayer<Real> {
 public:
  Additive(const Options& options, Form form) : HiddenLayer<Real>(options, form), bias_(options.flag("bias", true)) {}

  std::vector<Declared> parameters(const Sizes& s) const override {
    const int64_t hidden = this->hidden(s);
    std::vector<Declared> all{{"from_query", {hidden, s.query}}, {"from_keys", {hidden, s.keys}}};
    if (bias_) all.push_back({"bias", {hidden}});
    this->declare_last(s, all);
    return all;
  }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes&) const override {
    auto x = product(p["from_query"], pair.query);            // [Dh]
    const auto from_key = product(p["from_keys"], pair.key);  // [Dh]
    for (size_t d = 0; d < x.size(); ++d) x[d] += from_key[d] + (bias_ ? p["bias"][d] : Real(0));
    return this->finish(p, std::move(x));
  }

 private:
  bool bias_;
};

}  // namespace

extern const ScoreDefinitions::Entry additive_score{
    "additive", define<Additive>, {.variants = {"additive(relu, bias=false)", "additive(silu)"}}};

}  // namespace heed::kernels::reference
