// Parallel co-attention (Lu et al., 2016): each feature gets a message from the other input before it is scored.
//
//   A = act(K1 W_A K2^T)                     [n1, n2], not normalized
//   H1 = act(W1 K1 + A (W2 K2))              e1 = w1 . H1        c1 = sum_i align(e1)_i f1_i
//   H2 = act(W2 K2 + A^T (W1 K1))            e2 = w2 . H2        c2 = sum_j align(e2)_j f2_j
//   out = [c1; c2], or c1 + c2 as in the paper               act = tanh
//
// W_A (`between`), W1 (`from_first`) and W2 (`from_second`) are shared by both sides. The messages A (W2 K2) are
// attention with the activated general score and no alignment, so A is not stored; if weights are requested, it is
// returned as also["affinity"] [B, n1, n2]. It is not a step: its rows are not weights. An empty input sends no
// message.

#include "heed/structures/feature/affinity.h"

namespace heed {
namespace {

class Parallel final : public Structure {
 public:
  Parallel(const Options& spec, const StructureOptions& options)
      : Structure(options, "softmax"),
        sum_(spec.choice("join", {"concat", "sum"}) == "sum"),
        hidden_(options.hidden_dim > 0 ? options.hidden_dim : width_of(0)),
        between_(parameter("between", {width_of(0), width_of(1)})),
        from_first_(parameter("from_first", {hidden_, width_of(0)})),
        from_second_(parameter("from_second", {hidden_, width_of(1)})),
        first_(slot_with_score("self_attentive(dot)", "first", 0, hidden_, width_of(0))),
        second_(slot_with_score("self_attentive(dot)", "second", 0, hidden_, width_of(1))) {
    if (sum_) same_width("parallel", width_of(0), width_of(1));
  }

  StructureSignature takes() const override { return {.features = {"first", "second"}}; }
  int64_t width() const override { return sum_ ? width_of(0) : width_of(0) + width_of(1); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto &first = in.features[0], &second = in.features[1];
    const auto says_first = at::linear(first.rows, from_first_);     // W1 K1 [B, n1, Dh]
    const auto says_second = at::linear(second.rows, from_second_);  // W2 K2 [B, n2, Dh]

    Call call = inner_call(in.call);
    const auto heard_second = hear(second.rows, between_, first, says_first, call).context;  // [B, n2, Dh]
    call.outputs.weights = in.call.outputs.weights;
    const Attended heard_first = hear(first.rows, between_.t(), second, says_second, call);
    if (call.outputs.weights) out.also["affinity"] = heard_first.weights;  // [B, n1, n2]

    const auto h1 = at::tanh(says_first + heard_first.context);  // [B, n1, Dh]
    const auto h2 = at::tanh(says_second + heard_second);        // [B, n2, Dh]
    const auto c1 = first_(out, {}, first.with_rows(h1), in.call, first.rows);
    const auto c2 = second_(out, {}, second.with_rows(h2), in.call, second.rows);
    out.context = sum_ ? c1 + c2 : beside({c1, c2});
    return out;
  }

  /// sum_j act(k_j . (W q_i)) says_j for each q_i, over the real k_j. between: W [width of from, width of query].
  static Attended hear(const Tensor& query, const Tensor& between, const Features& from, const Tensor& says,
                       const Call& call) {
    static const Mechanism affinity = Mechanism::parse("activated_general + identity");
    const Parameters p{{"score.from_query", between}, {"score.bias", at::zeros({1}, between.options())}};
    return attend(query, from.rows, says, affinity, p, over(call, from));
  }

  bool sum_;
  int64_t hidden_;
  Tensor between_, from_first_, from_second_;
  Slot first_, second_;
};

const Structure::Parts::Entry parallel_entry{
    "parallel",
    make_structure<Parallel>,
    {.formula = "e1 = w1 . act(W1 K1 + A W2 K2), A = act(K1 W_A K2^T), and the same for F2; [c1; c2]",
     .paper = "Lu et al., 2016",
     .cost = "n1 n2 (D + Dh), O(n1 + n2) memory",
     .choose = "two inputs, full interaction: every feature with every other",
     .axis = "features",
     .variants = {"parallel(sum)"},
     .synonyms = {"co_attention", "coattention", "fine_grained"},
     .order = 3}};

}  // namespace
}  // namespace heed
