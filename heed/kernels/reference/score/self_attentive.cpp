// Self-attentive (Lin et al., 2017; Yang et al., 2016): the query is learned, the given one is not read.
//   hidden:  e_i = query_i . act(W k + b)        multi: one query per channel
//   dot:     e_i = query_i . k                   lifted: by groups
// Query i is learned query i, or the only one.

#include "heed/base/check.h"
#include "heed/kernels/reference/math.h"
#include "heed/kernels/reference/score/features.h"

namespace heed::kernels::reference {
namespace {

template <typename Real>
class SelfAttentive final : public Score<Real> {
 public:
  SelfAttentive(const Options& options, Form)
      : dot_(options.choice("form", {"hidden", "dot"}) == "dot"),
        queries_(options.integer("queries", 1)),
        activate_(activation<Real>(options.choice("activation", activation_names()))) {
    check(queries_ >= 1, "score/self_attentive: queries is ", queries_, ", expected at least 1");
  }
  std::vector<Form> forms() const override {
    return dot_ ? std::vector<Form>{Form::single, Form::lift} : std::vector<Form>{Form::single, Form::hidden};
  }

  void check_sizes(const Sizes& s) const override {
    check(queries_ == 1 || s.queries == queries_, "score/self_attentive: got ", s.queries, " queries, expected ",
          queries_, ", one row for each learned query");
    if (dot_)
      check(s.keys % s.width() == 0, "score/self_attentive: keys have ", s.keys, " features, expected a multiple of ",
            s.width());
  }

  std::vector<Declared> parameters(const Sizes& s) const override {
    if (dot_) return {{"query", {queries_, s.keys}}};
    std::vector<int64_t> query{queries_, kHidden};
    if (s.form == Form::hidden) query.insert(query.begin() + 1, s.values);
    return {{"from_keys", {kHidden, s.keys}}, {"bias", {kHidden}}, {"query", query}};
  }

  std::vector<Real> score(const HeadParameters<Real>& p, const Pair<Real>& pair, const Sizes& s) const override {
    const auto query = part(p["query"], queries_ == 1 ? 0 : pair.query_index, queries_);  // [Dk], [Dh] or [W, Dh]
    if (dot_)
      return for_each_channel<Real>(
          s, [&](int64_t c) { return dot(part(query, c, s.width()), part(pair.key, c, s.width())); });
    auto x = product(p["from_keys"], pair.key);  // [Dh]
    for (size_t d = 0; d < x.size(); ++d) x[d] = activate_(x[d] + p["bias"][d]);
    return product<Real>(query, x);
  }

 private:
  bool dot_;
  int64_t queries_;
  Activation<Real> activate_;
};

}  // namespace

extern const ScoreDefinitions::Entry self_attentive_score{
    "self_attentive",
    define<SelfAttentive>,
    {.variants = {"self_attentive(dot)", "self_attentive(queries=3, sigmoid)"}}};

}  // namespace heed::kernels::reference
