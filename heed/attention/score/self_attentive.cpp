// Self-attentive score (Lin et al., 2017; Yang et al., 2016):   e_ij = u_i . act(W k_j + b),   act = tanh
//
// The queries u are learned: the caller passes an undefined query, and the result has Lq = `queries`, the number of
// learned ones. Of a query that is passed only Lq is used, and a single learned query is repeated for all. With form
// dot, e_ij = u_i . k_j. Multi-dimensional: u has one vector for each channel (source2token of Shen et al., 2018); form
// dot supports lift, as dot does.

#include "heed/attention/activation.h"
#include "heed/attention/score.h"

namespace heed {
namespace {

class SelfAttentive final : public Score {
 public:
  explicit SelfAttentive(const Options& options)
      : dot_(options.choice("form", {"hidden", "dot"}) == "dot"),
        queries_(options.integer("queries", 1)),
        act_(options) {
    check(queries_ > 0, "score/self_attentive: queries is ", queries_, ", expected at least 1");
  }

  std::vector<ParameterSpec> parameters(const Sizes& s) const override {
    if (dot_) {
      check_same_width("score/self_attentive",
                       Sizes{s.key_dim, s.key_dim, s.value_dim, s.hidden_dim, s.dimensionality});
      return {{"query", {queries_, s.key_dim}}};
    }
    std::vector<ParameterSpec> all{{"from_keys", {s.hidden_dim, s.key_dim}}, {"bias", {s.hidden_dim}, kZeros}};
    if (s.dimensionality == Dimensionality::single)
      all.push_back({"query", {queries_, s.hidden_dim}});
    else
      all.push_back({"query", {queries_, s.value_dim, s.hidden_dim}});
    return all;
  }

  std::string refuse(Dimensionality d) const override {
    if (dot_) return only(d, Dimensionality::lift, "form dot has no hidden layer");
    return only(d, Dimensionality::multi, "its query is a constant");
  }

  Tensor prepare_query(const Parameters& p, const Tensor& query) const override {
    const int64_t Lq = query.size(2);
    check(queries_ == 1 || queries_ == Lq, "score/self_attentive: ", queries_, " learned queries, but the query has ",
          Lq, " rows; pass an undefined query");
    auto own = p["query"];  // [r, Dh] or with channels [r, W, Dh], with or without a leading axis H
    const bool channels = !dot_ && p.sizes().dimensionality != Dimensionality::single;
    if (channels) own = own.flatten(-2, -1);
    return own.expand({query.size(0), query.size(1), Lq, own.size(-1)});
  }
  Tensor prepare_keys(const Parameters& p, const Tensor& keys) const override {
    return dot_ ? keys : act_(project(keys, p["from_keys"], p["bias"]));
  }

  Tensor score(const Parameters& p, const Tensor& query, const Tensor& keys) const override {
    const int64_t width = p.sizes().width();
    return dot_ ? products(query, keys, width) : channel_products(query, keys, width);
  }
  TiledScore kernel(Dimensionality d) const override { return single_only(d, TiledScore{}); }

  int64_t own_queries() const override { return queries_; }

 private:
  bool dot_;
  int64_t queries_;
  Activation act_;
};

const Catalogue<Score>::Entry self_attentive_entry{"self_attentive",
                                                   make_part<Score, SelfAttentive>,
                                                   {.formula = "u . act(W k + b), u learned",
                                                    .paper = "Lin et al., 2017",
                                                    .cost = "Lk Dh Dk",
                                                    .choose = "no query at hand: pooling a sentence, a document, a set",
                                                    .variants = {"self_attentive(dot)", "self_attentive(elu)"},
                                                    .synonyms = {"attention_pooling", "learned_query", "source2token"},
                                                    .order = 5}};

}  // namespace
}  // namespace heed
