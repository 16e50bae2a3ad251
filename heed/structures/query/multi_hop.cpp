// Multi-hop attention in the survey's general form (41)-(42): each hop refines the query with the context found so far.
//
//   c^(0) = mean(F),   q^(0) = q
//   q^(s+1) = transform(q^(s), c^(s))
//   c^(s+1) = Att([q^(s+1); c^(s)], F)                  s = 0 .. S-1;   the output is c^(S)
//
// The survey numbers the scores of a hop e^(s); they give c^(s+1). So S hops are S attention calls, and the mean is the
// initial context, not the result of the first hop.
//
//   transform tanh:        q' = tanh(W_q q + W_c c + b)
//   transform attention:   q' = Att(a, G) over the features G of a question; a is q, c or [q; c] (option asks)
//
// Additional output: "query" [B, Lq, Dq], q^(S).

#include "heed/structures/joined_query.h"
#include "heed/structures/query/hops.h"

namespace heed {
namespace {

class MultiHop final : public WithJoinedQuery {
 public:
  MultiHop(const Options& spec, const StructureOptions& options) : WithJoinedQuery(options, "additive + softmax") {
    const int64_t hops = checked_hops("multi_hop", spec.integer("hops", 2));
    const bool tied = spec.flag("tied");
    question_ = spec.choice("transform", {"tanh", "attention"}) == "attention";
    asks_ = spec.choice("asks", {"query", "context", "both"});
    const int64_t Dq = width_of_query(), D = width_of(0);
    check(question_ || asks_ == "query", "multi_hop: asks=", asks_, " is for transform=attention");
    check(!question_ || Dq == width_of(1), "multi_hop: the query is ", Dq, " wide and the question ", width_of(1),
          "; expected the same, since one becomes the other");
    if (question_) {
      const int64_t asking = asks_ == "query" ? Dq : asks_ == "context" ? D : Dq + D;
      ask_ = for_each_hop(hops, tied, [&](const std::string& hop) { return joined_slot("ask" + hop, asking, Dq); });
    } else {
      refine_ = for_each_hop(hops, tied, [&](const std::string& hop) {
        return Refine{parameter("from_query" + hop, {Dq, Dq}), parameter("from_context" + hop, {Dq, D}),
                      parameter("bias" + hop, {Dq}, kZeros)};
      });
    }
    attend_ = for_each_hop(hops, tied, [&](const std::string& hop) { return joined_slot("attend" + hop, Dq + D, D); });
  }

  StructureSignature takes() const override {
    if (question_) return {.features = {"features", "question"}, .query = true};
    return {.features = {"features"}, .query = true};
  }
  int64_t width() const override { return width_of(0); }

 private:
  struct Refine {
    Tensor from_query, from_context, bias;  // [Dq, Dq], [Dq, D], [Dq]
  };

  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto& features = in.features[0];
    Tensor query = in.query;                                          // [B, Lq, Dq]
    Tensor context = mean(features).expand({-1, query.size(1), -1});  // [B, Lq, D]
    for (size_t hop = 0; hop < attend_.size(); ++hop) {
      query = question_ ? ask_[hop](out, asking(query, context), in.features[1], in.call)
                        : at::tanh(at::linear(query, refine_[hop].from_query, refine_[hop].bias) +
                                   at::linear(context, refine_[hop].from_context));
      context = attend_[hop](out, {query, context}, features, in.call);
    }
    out.context = context;
    out.also["query"] = query;
    return out;
  }

  std::vector<Tensor> asking(const Tensor& query, const Tensor& context) const {
    if (asks_ == "both") return {query, context};
    return {asks_ == "query" ? query : context};
  }

  bool question_ = false;
  std::string asks_;
  std::vector<JoinedSlot> ask_, attend_;
  std::vector<Refine> refine_;
};

const Structure::Parts::Entry multi_hop_entry{
    "multi_hop",
    make_structure<MultiHop>,
    {.formula = "q' = t(q, c), c' = Att([q'; c], F), from c = mean(F)",
     .paper = "Brauwers & Frasincar, 2023",
     .cost = "S mechanisms, one after the other",
     .choose = "iterative refinement: what to look for depends on what was found",
     .axis = "queries",
     .variants = {"multi_hop(3, tied)", "multi_hop(attention)", "multi_hop(attention, tied, asks=context)",
                  "multi_hop(1, attention, asks=both)"},
     .synonyms = {"multi_step"},
     .order = 2}};

}  // namespace
}  // namespace heed
