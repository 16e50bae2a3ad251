// A recurrent decoder as a structure: its inputs are source and target, its context is the output for each target.

#pragma once

#include "heed/structures/decode/decoder.h"
#include "heed/structures/structure.h"

namespace heed {

/// Decoder: BahdanauDecoder or LuongDecoder. A derived class reads the options of its decoder from the spec and passes
/// them to hold().
template <typename Decoder>
class DecoderStructure : public Structure {
 public:
  StructureSignature takes() const override { return {.features = {"source", "target"}}; }
  int64_t width() const override { return width_of(1); }

 protected:
  using Structure::Structure;

  /// Decoder options from the structure's options and from the spec options that all decoders share. cells: allowed
  /// values of `cell`, the default first.
  DecoderOptions common(const Options& spec, const std::vector<std::string>& cells) const {
    DecoderOptions o;
    o.source_dim = width_of(0);
    o.embedding_dim = width_of(1);
    o.state_dim = spec.integer("state_dim", 0);
    if (o.state_dim == 0) o.state_dim = width_of(1);
    o.out_dim = width_of(1);
    o.mechanism = mechanism().to_string();
    o.hidden_dim = options().hidden_dim;
    o.num_heads = options().num_heads;
    o.dropout = options().dropout;
    o.cell = spec.choice("cell", cells) == "gru" ? Cell::gru : Cell::lstm;
    o.context_gate = spec.flag("gate");
    return o;
  }
  void hold(const DecoderOptions& o) { decoder_ = register_module("decoder", Decoder(o)); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    auto decoded = decoder_->forward(in.features[1], in.features[0], in.call);
    StructureOutput out;
    out.context = decoded.features.rows;  // [B, T, D]
    out.keep = decoded.features.keep;
    out.steps.emplace_back("attend", std::move(decoded.attended));
    return out;
  }

  Decoder decoder_{nullptr};
};

}  // namespace heed
