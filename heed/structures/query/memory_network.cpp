// End-to-end memory network (MemN2N, Sukhbaatar et al., 2015):
//
//   u^1 = B q;     p = align(u^k . A^k x_l),   o^k = sum_l p_l C^k x_l,   u^{k+1} = u^k + o^k,   k = 1 .. K
//
//   adjacent      A^{k+1} = C^k, B = A^1: K + 1 matrices. The output matrix is W^T = C^K: also["answer"] [B, Lq, D] are
//                 the logits of the words, if x and q are bags of words
//   layerwise     one A and one C for all hops, as in a recurrent network, a separate B, u' = H u + o; with relu, the
//                 second half of u' passes a ReLU. The caller computes the answer
//
// x_l are bags of words or sums of embeddings; time encodings are part of x_l. The context is u^{K+1} [B, Lq, hidden].
// Linear start removes the alignment (heed/structures/query/memory_network.h); the steps are then named "linear".

#include "heed/structures/query/memory_network.h"

#include "heed/structures/query/hops.h"

namespace heed {
namespace {

class MemoryNetwork final : public Structure {
 public:
  MemoryNetwork(const Options& spec, const StructureOptions& options) : Structure(options, "softmax") {
    const int64_t hops = checked_hops("memory_network", spec.integer("hops", 3));
    layerwise_ = spec.choice("tying", {"adjacent", "layerwise"}) == "layerwise";
    relu_ = spec.flag("relu");
    const bool linear = spec.flag("linear_start");
    check(!relu_ || layerwise_, "memory_network: relu is for tying=layerwise");
    const int64_t D = width_of(0), d = width();
    check(layerwise_ || width_of_query() == D, "memory_network: the query is ", width_of_query(),
          " wide and the features ", D, "; expected the same, since tying=adjacent embeds them alike");
    const auto embed = [&](const std::string& name, int64_t from) { return parameter("embed_" + name, {d, from}); };
    if (layerwise_) {
      from_query_ = embed("query", width_of_query());
      const auto keys = embed("keys", D), values = embed("values", D);
      carry_ = parameter("carry", {d, d});
      for (int64_t k = 0; k < hops; ++k) hops_.push_back({keys, values, {}});
    } else {
      Tensor before = from_query_ = embed("1", D);
      for (int64_t k = 2; k <= hops + 1; ++k) {
        const auto next = embed(std::to_string(k), D);
        hops_.push_back({before, next, {}});
        before = next;
      }
    }
    const auto slots = for_each_hop(hops, layerwise_, [&](const std::string& hop) { return slot("hop" + hop, d, d); });
    for (size_t k = 0; k < hops_.size(); ++k) hops_[k].attend = slots[k];
    start_ = slot_of(Mechanism::parse("dot + identity"), "linear", d, d);
    linear_ = register_buffer("linear_start", at::full({}, linear ? 1.0 : 0.0, at::kFloat));
  }

  StructureSignature takes() const override { return {.features = {"features"}, .query = true}; }
  int64_t width() const override { return options().hidden_dim > 0 ? options().hidden_dim : width_of(0); }

  bool linear() const { return linear_.item<double>() != 0; }
  void set_linear(bool on) { linear_.fill_(on ? 1.0 : 0.0); }

 private:
  struct Hop {
    Tensor keys, values;  // A^k, C^k [d, D]
    Slot attend;
  };

  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto& features = in.features[0];
    const bool start = linear();
    Tensor u = at::linear(in.query, from_query_);  // [B, Lq, d]
    for (size_t k = 0; k < hops_.size(); ++k) {
      const auto& hop = hops_[k];
      const auto keys = features.with_rows(at::linear(features.rows, hop.keys));  // [B, L, d]
      const auto& attend = start ? start_ : hop.attend;
      const auto o = attend(out, u, keys, in.call, at::linear(features.rows, hop.values));
      u = layerwise_ ? carried(u) + o : u + o;
      if (relu_) u = half_rectified(u);
    }
    if (!layerwise_) out.also["answer"] = at::matmul(u, hops_.back().values);  // [B, Lq, D]
    out.context = u;
    return out;
  }

  Tensor carried(const Tensor& u) const { return at::linear(u, carry_); }
  static Tensor half_rectified(const Tensor& u) {
    const int64_t half = u.size(-1) / 2;
    return beside({u.narrow(-1, 0, half), at::relu(u.narrow(-1, half, u.size(-1) - half))});
  }

  bool layerwise_ = false, relu_ = false;
  Tensor from_query_, carry_;  // B [d, Dq], H [d, d]
  std::vector<Hop> hops_;
  Slot start_;
  Tensor linear_;  // 1 during linear start; a buffer, so that clones and saved parameters include it
};

const Structure::Parts::Entry memory_network_entry{
    "memory_network",
    make_structure<MemoryNetwork>,
    {.formula = "o = sum align(u . A x) C x, u' = u + o",
     .paper = "Sukhbaatar et al., 2015 (MemN2N)",
     .cost = "K hops of Lq Lk d, and Lk D d for the memory of each",
     .choose = "answers that need several facts, one after the other, from a list of sentences",
     .axis = "queries",
     .variants = {"memory_network(2, layerwise)", "memory_network(tying=layerwise, relu)"},
     .synonyms = {"memn2n", "end_to_end_memory"},
     .order = 5}};

}  // namespace

void set_linear(Structure& memory_network, bool on) {
  auto* const network = dynamic_cast<MemoryNetwork*>(&memory_network);
  check(network != nullptr, "memory_network: ", memory_network.to_string(), " has no linear start");
  network->set_linear(on);
}

bool is_linear(const Structure& memory_network) {
  const auto* const network = dynamic_cast<const MemoryNetwork*>(&memory_network);
  check(network != nullptr, "memory_network: ", memory_network.to_string(), " has no linear start");
  return network->linear();
}

Tensor position_weights(int64_t width, int64_t words, PositionWeights form) {
  check(width >= 1 && words >= 1, "memory_network: weights for ", words, " words of width ", width,
        "; expected at least 1 of each");
  const auto n = static_cast<double>(words), d = static_cast<double>(width);
  const auto j = at::arange(1, words + 1, at::kDouble).unsqueeze(1), k = at::arange(1, width + 1, at::kDouble);
  if (form == PositionWeights::code) return 1 + 4 * (k - (d + 1) / 2) * (j - (n + 1) / 2) / (d * n);
  return (1 - j / n) - (k / d) * (1 - 2 * j / n);
}

}  // namespace heed
