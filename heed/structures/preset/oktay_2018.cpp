// Attention gates (Oktay et al., 2018, Attention U-Net): every position of a skip connection is scaled by a gate.
//
//   a_i = sigmoid(W_d relu(W_q g_i + W_k x_i + b) + b'),   y_i = a_i x_i,   a weight for each channel
//
// g_i is the coarser gating signal, resampled to the grid of x by the caller. Positions do not compete: attention sees
// a query g_i with a single key x_i. b' (`bias`) is a scalar that opens or closes all gates; unlike softmax, a sigmoid
// does not cancel it. The survey classifies the alignment as global; the paper uses a sigmoid and mentions that softmax
// gave sparser maps.

#include "heed/structures/preset.h"

namespace heed {
namespace {

class AttentionGate final : public Structure {
 public:
  AttentionGate(const Options&, const StructureOptions& options)
      : Structure(options, "additive(relu) + sigmoid, multi"),
        gate_(slot("gate", width_of(1), width_of(0))),
        bias_(parameter("bias", {1}, kZeros)) {}

  StructureSignature takes() const override { return {.features = {"features", "signal"}, .same_length = true}; }
  int64_t width() const override { return width_of(0); }

 private:
  /// Makes each position a batch element: [B, L, D] -> [B * L, 1, D].
  static Tensor apart(const Tensor& x) { return x.flatten(0, 1).unsqueeze(1); }

  StructureOutput arrange(const StructureInput& in) override {
    const auto &features = in.features[0], &signal = in.features[1];
    StructureOutput out;
    const Features each{apart(features.rows),
                        features.keep.defined() ? features.keep.flatten().unsqueeze(1) : Tensor()};
    Call call = with_rows_split(in.call, features.length());
    call.bias.full = bias_.view({1, 1, 1});
    out.context = gate_(out, apart(signal.rows), each, call).view(features.rows.sizes());  // [B, L, D]
    out.keep = features.keep;
    return out;
  }

  Slot gate_;
  Tensor bias_;
};

const Structure::Parts::Entry attention_gate_entry{"attention_gate",
                                                   make_structure<AttentionGate>,
                                                   {.formula = "y_i = a_i x_i, a_i = sigmoid(score(g_i, x_i))",
                                                    .paper = "Oktay et al., 2018",
                                                    .cost = "one score for each position",
                                                    .choose = "a coarse signal says which positions of a map to keep",
                                                    .axis = "query",
                                                    .synonyms = {"attention_u_net"},
                                                    .order = 6}};

const Preset::Entry oktay_2018{"oktay_2018",
                               {.paper = "Oktay et al., 2018, Attention U-Net: Learning where to look for the pancreas",
                                .axes = {"singular", "single", "single", "additive", "sigmoid", "multi",
                                         "self_attentive + specialized", "singular"},
                                .structure = "attention_gate",
                                .mechanisms = {"additive(relu) + sigmoid, multi", "additive(relu) + sigmoid"}}};

}  // namespace
}  // namespace heed
