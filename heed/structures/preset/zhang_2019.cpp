// SAGAN (Zhang et al., 2019): self-attention over the positions of a feature map.
//
//   e_ij = (W_g x_i) . (W_f x_j),   o_i = W_v sum_j a_ij W_h x_j,   y_i = gamma o_i + x_i,   gamma starts at 0
//
// W_f, W_g, W_h reduce D channels to D / 8 (`reduce`), at least two. A map is given as [B, height * width, D].

#include "heed/structures/preset.h"

namespace heed {
namespace {

class FeatureMap final : public Structure {
 public:
  FeatureMap(const Options& spec, const StructureOptions& options) : Structure(options, "dot + softmax") {
    const int64_t reduce = spec.integer("reduce", 8);
    check(reduce >= 1, "feature_map: reduce is ", reduce, ", expected at least 1");
    attend_ = slot_of(
        AttentionOptions{.query_dim = width_of(0),
                         .key_dim = width_of(0),
                         .value_dim = width_of(0),
                         .head_dim = std::max<int64_t>(2, width_of(0) / reduce),  // a single channel has no direction
                         .mechanism = mechanism(),
                         .dropout = options.dropout},
        "attend");
    gamma_ = parameter("gamma", {1}, kZeros);
  }

  StructureSignature takes() const override { return {.features = {"map"}, .masks = true}; }
  int64_t width() const override { return width_of(0); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    const auto& map = in.features[0];
    StructureOutput out;
    const auto rows = map.rows + gamma_ * attend_(out, map.rows, map, in.call);
    out.context = map.with_rows(rows).without_padding().rows;  // [B, L, D]
    out.keep = map.keep;
    return out;
  }

  Slot attend_;
  Tensor gamma_;
};

const Structure::Parts::Entry feature_map_entry{"feature_map",
                                                make_structure<FeatureMap>,
                                                {.formula = "y_i = gamma W_v Att(W_g x_i, W_f X, W_h X) + x_i",
                                                 .paper = "Zhang et al., 2019",
                                                 .cost = "one mechanism of width D / 8 over L x L",
                                                 .choose = "distant positions of a picture depend on each other",
                                                 .axis = "query",
                                                 .variants = {"feature_map(reduce=1)"},
                                                 .synonyms = {"sagan", "non_local"},
                                                 .order = 5}};

const Preset::Entry zhang_2019{
    "zhang_2019",
    {.paper = "Zhang et al., 2019, Self-attention generative adversarial networks",
     .axes = {"singular", "single", "single", "dot", "softmax", "single", "self_attentive", "singular"},
     .structure = "feature_map",
     .mechanisms = {"dot + softmax"}}};

}  // namespace
}  // namespace heed
