// Multihop attention network (MAN, Tran & Niederee, 2018; the survey's reference list names it differently):
//
//   e_l = w . (tanh(W_u h_l) * tanh(W_m m)),   c = sum_l a_l h_l,   m <- m + c,   from m = q, or m = mean(F)
//
// The score is the dot product of w * tanh(W_m m) with tanh(W_u h_l), which is computed in blocks. The survey says
// that all hops share W_u, W_m and w; the authors' code has separate ones for each hop (tied=false). That code also
// adds the context of the previous hop; here each hop adds its own, as in the formula.
//
// The context is that of the last hop. Additional output: "memory" [B, Lq, D], m after the last hop.

#include "heed/structures/query/hops.h"
#include "heed/structures/structure.h"

namespace heed {
namespace {

class MemoryAttention final : public Structure {
 public:
  MemoryAttention(const Options& spec, const StructureOptions& options) : Structure(options, "softmax") {
    const int64_t hops = checked_hops("memory_attention", spec.integer("hops", 2));
    const bool tied = spec.flag("tied", true);
    from_mean_ = spec.choice("start", {"query", "mean"}) == "mean";
    const int64_t D = width_of(0), hidden = options.hidden_dim > 0 ? options.hidden_dim : D;
    check(from_mean_ || width_of_query() == D, "memory_attention: the query is ", width_of_query(),
          " wide and the features ", D, "; expected the same, since contexts are added to it");
    hops_ = for_each_hop(hops, tied, [&](const std::string& hop) {
      return Hop{parameter("from_features" + hop, {hidden, D}), parameter("from_memory" + hop, {hidden, D}),
                 parameter("to_scores" + hop, {1, hidden}), slot("attend" + hop, hidden, hidden, D)};
    });
  }

  StructureSignature takes() const override { return {.features = {"features"}, .query = !from_mean_}; }
  int64_t width() const override { return width_of(0); }

 private:
  struct Hop {
    Tensor from_features, from_memory, to_scores;  // [Dh, D], [Dh, D], [1, Dh]
    Slot attend;
  };

  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto& features = in.features[0];
    Tensor memory = from_mean_ ? mean(features) : in.query;  // [B, Lq, D]
    for (size_t k = 0; k < hops_.size(); ++k) {
      const auto& hop = hops_[k];
      const auto query = hop.to_scores * at::tanh(at::linear(memory, hop.from_memory));              // [B, Lq, Dh]
      const auto keys = features.with_rows(at::tanh(at::linear(features.rows, hop.from_features)));  // [B, L, Dh]
      out.context = hop.attend(out, query, keys, in.call, features.rows);                            // [B, Lq, D]
      memory = memory + out.context;
    }
    out.also["memory"] = memory;
    return out;
  }

  bool from_mean_ = false;
  std::vector<Hop> hops_;
};

const Structure::Parts::Entry memory_attention_entry{
    "memory_attention",
    make_structure<MemoryAttention>,
    {.formula = "e = w . (tanh(W_u h) * tanh(W_m m)), m <- m + c",
     .paper = "Tran & Niederee, 2018 (MAN)",
     .cost = "K hops of Lk Dh, and Lk D Dh for the keys of each",
     .choose = "matching questions and answers, each hop looking at another part",
     .axis = "queries",
     .variants = {"memory_attention(3, tied=false)", "memory_attention(start=mean)"},
     .order = 6}};

}  // namespace
}  // namespace heed
