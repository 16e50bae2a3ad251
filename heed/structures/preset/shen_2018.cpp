// DiSAN (Shen et al., 2018): self-attention with one weight for every channel, in two directions.
//
//   s_i = sum_j a_ij f_j, a over j < i (forward) or j > i (backward), a weight for each channel
//   u_i = g_i f_i + (1 - g_i) s_i,   g_i = sigmoid(W_s s_i + W_f f_i + b)                    fusion gate
//   context = sum_i a_i [u_i forward; u_i backward], a = align(W_2 elu(W_1 [u; u] + b)), a weight for each channel
//
// The first feature of the forward direction attends to nothing, nor does the last of the backward one: their s is 0.
// The other queries are shifted by one position, so that "strictly before" becomes a causal mask, which needs no
// storage: the steps have L - 1 queries. The paper's input layer f = elu(W x + b) is left to the caller.

#include "heed/structures/preset.h"

namespace heed {
namespace {

class Directional final : public Structure {
 public:
  Directional(const Options&, const StructureOptions& options)
      : Structure(options, "additive + softmax, multi(elementwise)") {
    const int64_t D = width_of(0);
    for (const std::string way : {"forward", "backward"}) {
      ways_.push_back({slot(way, D, D), parameter(way + "_gate_context", {D, D}),
                       parameter(way + "_gate_features", {D, D}), parameter(way + "_gate_bias", {D}, kZeros)});
    }
    const auto parts = mechanism().parts();
    const bool channels = mechanism().dimensionality() != Dimensionality::single;
    pool_ = slot_of(Mechanism::parse("self_attentive(elu) + " + parts.align.to_string() + (channels ? ", multi" : "")),
                    "pool", 0, 2 * D);
  }

  StructureSignature takes() const override { return {.features = {"features"}}; }
  int64_t width() const override { return 2 * width_of(0); }

 private:
  struct Way {
    Slot attend;
    Tensor gate_context, gate_features, gate_bias;
  };

  Tensor along(const Way& way, bool forward, const StructureInput& in, StructureOutput& out) const {
    const auto& f = in.features[0];
    const int64_t L = f.length(), asking = std::max<int64_t>(L - 1, 0);
    Call call = in.call;
    if (forward) {
      call.mask.causal = Causal::top_left;
    } else {
      call.mask.left = 0;
      call.mask.first_query = 1;
    }
    const auto seen = way.attend(out, f.rows.narrow(1, forward ? L - asking : 0, asking), f, call);  // [B, L - 1, D]
    const auto nothing = seen.new_zeros({f.batch(), L - asking, f.width()});
    const auto context = at::cat(forward ? std::vector<Tensor>{nothing, seen} : std::vector<Tensor>{seen, nothing}, 1);
    const auto gate =
        at::sigmoid(at::linear(context, way.gate_context) + at::linear(f.rows, way.gate_features, way.gate_bias));
    return gate * f.rows + (1 - gate) * context;
  }

  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto forward = along(ways_[0], true, in, out), backward = along(ways_[1], false, in, out);
    const auto both = in.features[0].with_rows(beside({forward, backward})).without_padding();
    out.context = pool_(out, {}, both, in.call);  // [B, 1, 2D]
    return out;
  }

  std::vector<Way> ways_;
  Slot pool_;
};

const Structure::Parts::Entry directional_entry{
    "directional",
    make_structure<Directional>,
    {.formula = "pool [gate(f_i, Att(f_i, F before i)); gate(f_i, Att(f_i, F after i))]",
     .paper = "Shen et al., 2018",
     .cost = "two mechanisms over L x L, one over L",
     .choose = "order matters and there is no recurrent encoder",
     .axis = "query",
     .synonyms = {"disan"},
     .order = 4}};

const Preset::Entry shen_2018{
    "shen_2018",
    {.paper = "Shen et al., 2018, DiSAN: Directional self-attention network",
     .axes = {"singular", "single", "single", "additive", "softmax", "multi", "self_attentive", "singular"},
     .structure = "directional",
     .mechanisms = {"additive + softmax, multi(elementwise)"}}};

}  // namespace
}  // namespace heed
