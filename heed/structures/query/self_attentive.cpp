// Self-attentive queries (survey 3.3.1): the structure takes no query.
//
//   learned       one query is learned (33), (34):  c = Att(F)                                          [B, 1, D]
//   features      every feature is a query (35):    c_l = Att(W_Q f_l, W_K F, W_V F)                    [B, L, D]
//                 with norm (37):                   LayerNorm(f_l + c_l)
//   structured    r queries are learned (Lin et al., 2017):  A = align(W_2 tanh(W_1 F)),  C = A F       [B, r, D]
//                 also "penalty" [B]:               || A A^T - I ||_F^2
//
// The penalty is the SQUARED Frobenius norm, as in the paper; a widely used port takes the root. The alignment runs
// over positions, not over the r queries. With several heads, or a weight for every channel, the penalty is the mean
// over them; for an empty input it is 0. It needs the weights, so the steps always hold them. With learned and
// structured, the score is always self_attentive, even if the mechanism names another.

#include "heed/structures/structure.h"

namespace heed {
namespace {

class SelfAttentiveQuery final : public Structure {
 public:
  SelfAttentiveQuery(const Options& spec, const StructureOptions& options)
      : SelfAttentiveQuery(spec.choice("form", {"learned", "features", "structured"}), spec, options) {}

  StructureSignature takes() const override { return {.features = {"features"}, .masks = form_ == "features"}; }
  int64_t width() const override { return width_of(0); }

 private:
  SelfAttentiveQuery(const std::string& form, const Options& spec, const StructureOptions& options)
      : Structure(options, form == "features" ? "scaled_dot + softmax" : "self_attentive + softmax"),
        form_(form),
        norm_(spec.flag("norm")),
        queries_(spec.integer("queries", kQueries)) {
    const int64_t D = width_of(0);
    check(!norm_ || form == "features", "self_attentive: norm is for form=features");
    check(queries_ >= 1, "self_attentive: queries is ", queries_, ", expected at least 1");
    check(queries_ == kQueries || form == "structured", "self_attentive: queries is for form=structured");
    if (form == "learned") attend_ = slot_with_score("self_attentive", "attend", 0, D);
    if (form == "structured") attend_ = slot_of(with_queries(mechanism(), queries_), "attend", 0, D);
    if (form == "features") {
      if (options.num_heads == 1) {  // several heads have their own projections
        to_query_ = parameter("to_query", {D, D});
        to_keys_ = parameter("to_keys", {D, D});
        to_values_ = parameter("to_values", {D, D});
      }
      attend_ = slot("attend", D, D);
    }
    if (norm_) {
      scale_ = parameter("norm_scale", {D}, kOnes);
      shift_ = parameter("norm_shift", {D}, kZeros);
    }
  }

  /// The mechanism with the score "self_attentive(queries=r)", keeping other options of that score.
  static Mechanism with_queries(const Mechanism& mechanism, int64_t queries) {
    const auto& parts = mechanism.parts();
    const bool own = parts.score.name == "self_attentive" && !parts.score.options.empty();
    const std::string said = own ? parts.score.options.to_string() : "()";  // "(dot)"
    const std::string many = parts.dimensionality.name == "single" ? "" : ", " + parts.dimensionality.to_string();
    return Mechanism::parse("self_attentive" + said.substr(0, said.size() - 1) + (own ? ", " : "") +
                            "queries=" + std::to_string(queries) + ") + " + parts.align.to_string() + many);
  }

  StructureOutput arrange(const StructureInput& in) override {
    const auto& features = in.features[0];
    if (form_ == "features") return every_feature(features, in.call);
    StructureOutput out;
    Call call = in.call;
    if (form_ == "structured") {
      call.outputs.weights = true;
      call.outputs.rows.clear();
      call.outputs.heads.clear();
    }
    out.context = attend_(out, {}, features, call);  // [B, r, D]
    if (form_ == "structured") out.also["penalty"] = penalty(out.steps.back().second.weights, any_real(features));
    return out;
  }

  StructureOutput every_feature(const Features& features, const Call& call) const {
    StructureOutput out;
    const auto by = [&](const Tensor& weight) {
      return weight.defined() ? at::linear(features.rows, weight) : features.rows;
    };
    Tensor rows = attend_(out, by(to_query_), features.with_rows(by(to_keys_)), call, by(to_values_));  // [B, L, D]
    if (norm_) rows = at::layer_norm(features.rows + rows, {width()}, scale_, shift_);
    out.context = features.with_rows(rows).without_padding().rows;
    out.keep = features.keep;
    return out;
  }

  /// weights [B, (H,) r, L, (W)], real [B]  ->  [B].
  Tensor penalty(const Tensor& weights, const Tensor& real) const {
    const bool channels = mechanism().dimensionality() != Dimensionality::single;
    const auto a = (channels ? weights.movedim(-1, 1) : weights.unsqueeze(1)).flatten(1, -3);  // [B, n, r, L]
    const auto apart = at::matmul(a, a.transpose(-1, -2)) - at::eye(a.size(-2), a.options());  // [B, n, r, r]
    const auto norms = apart.square().sum({-2, -1}).mean(1);                                   // [B]
    return norms.masked_fill(real.logical_not(), 0.0);
  }

  static constexpr int64_t kQueries = 4;

  std::string form_;
  bool norm_;
  int64_t queries_;
  Slot attend_;
  Tensor to_query_, to_keys_, to_values_;  // [D, D]
  Tensor scale_, shift_;                   // [D]
};

const Structure::Parts::Entry self_attentive_query_entry{
    "self_attentive",
    make_structure<SelfAttentiveQuery>,
    {.formula = "c = Att(F), q learned; or c_l = Att(W_Q f_l, W_K F, W_V F)",
     .paper = "Lin et al., 2017; Vaswani et al., 2017",
     .cost = "one mechanism: 1, L or r queries",
     .choose = "no query at hand: pooling (learned), features in each other's light (features), several views "
               "(structured)",
     .axis = "query",
     .variants = {"self_attentive(features)", "self_attentive(features, norm)",
                  "self_attentive(structured, queries=3)"},
     .synonyms = {"attention_pooling", "structured_self_attention"},
     .order = 2}};

}  // namespace
}  // namespace heed
