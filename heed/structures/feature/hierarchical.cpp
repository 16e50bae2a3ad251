// Hierarchical attention (HAN, Yang et al., 2016): pools words to sentences, sentences to a document, to any depth.
//
//   level k:   h = encode_k(f),   u_l = tanh(W_k h_l + b_k),   s = sum_l align(u_k . u_l) h_l
//
// The contexts of a level are the features of the next; u_k is a learned query, and all sentences share parameters. The
// encoder of a level is a bidirectional GRU or LSTM with half the width per direction, or none. An empty sentence gives
// 0 and is masked in its document; a document without sentences gives 0.
//
//   features [B, S, L, D] (depth 2; [B, D_1, D_2, ..., L, D] for more)  ->  context [B, 1, D]
//
// The score is always self_attentive, even if the mechanism names another. Steps are "level_1" (words) and so on; the
// leading axes are flattened into the batch axis: [B S, 1, L].

#include "heed/structures/encode/recurrent.h"
#include "heed/structures/query/hops.h"
#include "heed/structures/structure.h"

namespace heed {
namespace {

class Hierarchical final : public Structure {
 public:
  Hierarchical(const Options& spec, const StructureOptions& options)
      : Structure(options, "self_attentive + softmax"), depth_(spec.integer("depth", 2)) {
    checked_repeats("hierarchical", "depth", depth_);
    const auto encoder = spec.choice("encoder", {"none", "gru", "lstm"});
    const int64_t D = width();
    check(encoder == "none" || D % 2 == 0, "hierarchical: features are ", D,
          " wide, expected an even width for an encoder of two directions");
    for (int64_t level = 1; level <= depth_; ++level) {
      const auto number = std::to_string(level);
      if (encoder != "none") {
        const auto cell = encoder == "gru" ? Cell::gru : Cell::lstm;
        encode_.push_back(
            register_module("encode_" + number, Recurrent(RecurrentOptions{.in_dim = D, .out_dim = D, .cell = cell})));
      }
      pool_.push_back(slot_with_score("self_attentive", "level_" + number, 0, D));
    }
  }

  StructureSignature takes() const override { return {.features = {"features"}, .depth = depth_}; }
  int64_t width() const override { return width_of(0); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    Features level = in.features[0];
    for (size_t k = 0; k < pool_.size(); ++k) {
      if (!encode_.empty()) level = encode_[k]->forward(level);
      level = pooled(out, pool_[k], level, in.call);
    }
    out.context = level.rows.unsqueeze(1);  // [B, 1, D]
    return out;
  }

  /// [..., L, D] -> [..., D]; an item is real if any of its features is.
  static Features pooled(StructureOutput& out, const Slot& pool, const Features& level, const Call& call) {
    auto positions = level.rows.sizes().vec();
    positions.erase(positions.end() - 2);  // [..., D]
    const int64_t L = level.length(), D = level.width(), B = level.batch();
    int64_t rows = 1;
    for (size_t axis = 0; axis + 1 < positions.size(); ++axis) rows *= positions[axis];
    Features flat{level.rows.reshape({rows, L, D}), {}};
    if (level.keep.defined()) flat.keep = level.keep.reshape({rows, L});
    Features next{pool(out, {}, flat, B > 0 ? with_rows_split(call, rows / B) : call).view(positions), {}};
    if (level.keep.defined()) next.keep = level.keep.any(-1);
    if (L == 0)
      next.keep = at::zeros(next.rows.sizes().slice(0, positions.size() - 1), level.rows.options().dtype(at::kBool));
    return next;
  }

  int64_t depth_;
  std::vector<Recurrent> encode_;  // one for each level, or empty
  std::vector<Slot> pool_;
};

const Structure::Parts::Entry hierarchical_entry{
    "hierarchical",
    make_structure<Hierarchical>,
    {.formula = "s_i = Att(F_i), d = Att(s), level by level",
     .paper = "Yang et al., 2016 (HAN)",
     .cost = "a pass over the features, and one over each level above",
     .choose = "documents: words, sentences, documents",
     .axis = "levels",
     .variants = {"hierarchical(depth=1)", "hierarchical(depth=3)", "hierarchical(encoder=gru)",
                  "hierarchical(encoder=lstm)"},
     .synonyms = {"han"},
     .order = 1}};

}  // namespace
}  // namespace heed
