// A stack (survey 3.3.2, multi-hop as in the Transformer): each layer rewrites the features instead of the query.
//
//   F <- LayerNorm(F + Att(W_Q F, W_K F, W_V F)),   once for each layer
//
// A layer is the structure self_attentive(features, norm). Unlike Transformer layers it has no feed-forward sublayer.

#include "heed/structures/query/hops.h"
#include "heed/structures/structure.h"

namespace heed {
namespace {

class Stack final : public Structure {
 public:
  Stack(const Options& spec, const StructureOptions& given) : Structure(given, "scaled_dot + softmax") {
    const int64_t layers = checked_repeats("stack", "num_layers", spec.integer("num_layers", 2));
    for (int64_t i = 1; i <= layers; ++i)
      layers_.push_back(nested("layer_" + std::to_string(i), "self_attentive(features, norm)", given));
  }

  StructureSignature takes() const override { return {.features = {"features"}, .masks = true}; }
  int64_t width() const override { return width_of(0); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    StructureInput given = in;
    for (const auto& layer : layers_) {
      out.context = layer(out, given).context;  // [B, L, D], 0 at padding
      given.features[0] = given.features[0].with_rows(out.context);
    }
    out.keep = in.features[0].keep;
    return out;
  }

  std::vector<Nested> layers_;
};

const Structure::Parts::Entry stack_entry{"stack",
                                          make_structure<Stack>,
                                          {.formula = "F <- LayerNorm(F + Att(F, F)), layer by layer",
                                           .paper = "Vaswani et al., 2017",
                                           .cost = "a mechanism of L queries and L keys for each layer",
                                           .choose = "several hops where every feature is to be refined",
                                           .axis = "queries",
                                           .variants = {"stack(num_layers=1)"},
                                           .order = 3}};

}  // namespace
}  // namespace heed
