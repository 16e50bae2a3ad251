// The Transformer (Vaswani et al., 2017): an encoder of the source, a decoder of the target that attends to it.
//
//   S = encoder(source + positions),   context_t = decoder(target + positions, up to t; S)
//
// source and target are token embeddings; the caller scales them by sqrt(D) if they are shared with the output. The
// paper has 6 layers, 8 heads and post-norm.

#include "heed/attention/positions.h"
#include "heed/structures/preset.h"

namespace heed {
namespace {

Features with_positions(const Features& f) {
  const auto positions = sinusoidal_positions(f.length(), f.width(), Layout::interleaved, 0, f.rows.options());
  return f.with_rows(f.rows + positions).without_padding();
}

class Transformer final : public Structure {
 public:
  Transformer(const Options& spec, const StructureOptions& given) : Structure(given, "scaled_dot + softmax") {
    const auto layers = std::to_string(spec.integer("num_layers", 2));
    const auto heads = std::to_string(spec.integer("num_heads", given.num_heads > 1 ? given.num_heads : 2));
    const auto options =
        "(num_layers=" + layers + ", num_heads=" + heads + ", norm=" + spec.choice("norm", {"post", "pre"}) + ")";
    StructureOptions inner{.mechanism = inside(), .dropout = given.dropout};
    inner.features = {width_of(0)};
    encoder_ = nested("encoder", "transformer_encoder" + options, inner);
    inner.features = {width_of(0), width_of(1)};
    decoder_ = nested("decoder", "transformer_decoder" + options, inner);
  }

  StructureSignature takes() const override { return {.features = {"source", "target"}}; }
  int64_t width() const override { return width_of(1); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const StructureOutput source = encoder_(out, {.features = {with_positions(in.features[0])}, .call = in.call});
    const Features read{source.context, in.features[0].keep};
    const StructureOutput target = decoder_(out, {.features = {read, with_positions(in.features[1])}, .call = in.call});
    out.context = target.context;  // [B, T, D]
    out.keep = target.keep;
    return out;
  }

  Nested encoder_, decoder_;
};

const Structure::Parts::Entry transformer_entry{"transformer",
                                                make_structure<Transformer>,
                                                {.formula = "decoder(target + positions; encoder(source + positions))",
                                                 .paper = "Vaswani et al., 2017",
                                                 .cost = "layers (L^2 + T^2 + L T) D, and (12 L + 16 T) D^2",
                                                 .choose = "one sequence into another, and data enough",
                                                 .axis = "beyond",
                                                 .variants = {"transformer(num_layers=1, norm=pre)"},
                                                 .order = 1}};

const Preset::Entry vaswani_2017{"vaswani_2017",
                                 {.paper = "Vaswani et al., 2017, Attention is all you need",
                                  .axes = {"singular", "single", "single", "scaled_dot", "softmax", "single",
                                           "self_attentive + basic", "multi_head + multi_hop"},
                                  .structure = "transformer(num_layers=6, num_heads=8)",
                                  .mechanisms = {"scaled_dot + softmax"}}};

}  // namespace
}  // namespace heed
