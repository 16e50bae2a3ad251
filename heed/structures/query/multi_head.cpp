// Multi-head attention (Vaswani et al., 2017; survey (38)): several queries in parallel, each with its own projections.
//
//   c^(j) = Att_j(W_q^(j) q, W_K^(j) F, W_V^(j) F),     c = W_O concat(c^(1), ..., c^(h))
//
// A head is D / h wide (split, the default) or D wide (full, as in the survey). num_kv_heads shares keys and values
// among heads: 1 is multi-query attention, a divisor of h grouped-query attention. All heads have the same mechanism,
// or several mechanisms, "scaled_dot + softmax | additive + sparsemax", each in an equal share of the heads, in that
// order. W_O applied to concatenated contexts is a sum over heads, so heads with different mechanisms are separate
// modules whose outputs (with biases) are added.

#include "heed/structures/structure.h"

namespace heed {
namespace {

std::vector<std::string> mechanisms_of_heads(const std::string& spec) {
  std::vector<std::string> all;
  for (size_t begin = 0; begin <= spec.size();) {
    const size_t end = std::min(spec.find('|', begin), spec.size());
    all.push_back(spec.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

int64_t share(const char* what, int64_t count, size_t groups) {
  const auto n = static_cast<int64_t>(groups);
  check(count % n == 0, "multi_head: ", count, " ", what, " for ", n, " mechanisms; expected a multiple");
  return count / n;
}

class MultiHead final : public Structure {
 public:
  MultiHead(const Options& spec, const StructureOptions& given) : Structure(given, "scaled_dot + softmax") {
    const int64_t heads = spec.integer("num_heads", given.num_heads > 1 ? given.num_heads : 2);
    const int64_t key_heads = spec.integer("num_kv_heads", heads);
    const bool full = spec.choice("width", {"split", "full"}) == "full";
    const bool bias = spec.flag("bias");
    check(heads >= 1, "multi_head: num_heads is ", heads, ", expected at least 1");
    check(key_heads >= 1, "multi_head: num_kv_heads is ", key_heads, ", expected at least 1");
    const int64_t total = given.hidden_dim > 0 ? given.hidden_dim : width_of(0);
    check(full || total % heads == 0, "multi_head: a width of ", total, " does not split into ", heads,
          " heads; expected a multiple, or width=full");
    const auto mechanisms = mechanisms_of_heads(given.mechanism.empty() ? "scaled_dot + softmax" : given.mechanism);
    for (size_t g = 0; g < mechanisms.size(); ++g)
      groups_.push_back(slot_of(AttentionOptions{.query_dim = width_of_query(),
                                                 .key_dim = width_of(0),
                                                 .value_dim = width_of(0),
                                                 .num_heads = share("heads", heads, mechanisms.size()),
                                                 .num_kv_heads = share("key heads", key_heads, mechanisms.size()),
                                                 .head_dim = full ? total : total / heads,
                                                 .bias = bias,
                                                 .mechanism = Mechanism::parse(mechanisms[g]),
                                                 .dropout = given.dropout},
                                mechanisms.size() == 1 ? "attend" : "attend_" + std::to_string(g + 1)));
  }

  StructureSignature takes() const override { return {.features = {"features"}, .query = true, .masks = true}; }
  int64_t width() const override { return width_of(0); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    for (const auto& group : groups_) {
      const auto part = group(out, in.query, in.features[0], in.call);  // [B, Lq, D]
      out.context = out.context.defined() ? out.context + part : part;
    }
    return out;
  }

  std::vector<Slot> groups_;
};

const Structure::Parts::Entry multi_head_entry{
    "multi_head",
    make_structure<MultiHead>,
    {.formula = "c = W_O concat_j Att_j(W_q^j q, W_K^j F, W_V^j F)",
     .paper = "Vaswani et al., 2017",
     .cost = "h mechanisms of width D / h, and 4 D^2 for each query or feature",
     .choose = "several views at once, side by side",
     .axis = "queries",
     .variants = {"multi_head(num_heads=4, num_kv_heads=2)", "multi_head(width=full)",
                  "multi_head(num_kv_heads=1, bias)"},
     .synonyms = {"multihead", "grouped_query", "multi_query"},
     .order = 1}};

}  // namespace
}  // namespace heed
