// PSAC (Li et al., 2019): self-attention instead of a recurrent encoder over a video and over a question, then
// co-attention between them.
//
//   F <- LayerNorm(F + Att(F, F)), F = features + positions         for the video V and for the question Q
//   S_ij = w . [v_i; q_j; v_i * q_j]
//   A_i = sum_j align(S_i.)_j q_j                                   each frame attends to the question
//   B_i = sum_j align(S_i.)_j sum_k align(S_.j)_k v_k               and, through it, to the video
//   out_i = [v_i; A_i; v_i * A_i; v_i * B_i]                        [B, n, 4D]
//
// A and B are one attention call whose values concatenate q_j and the context of q_j over the video. The scalar that
// the authors' code adds to S cancels in softmax, sparsemax and entmax and is left out, as is its feed-forward part.

#include "heed/attention/positions.h"
#include "heed/structures/feature/affinity.h"
#include "heed/structures/preset.h"

namespace heed {
namespace {

class PositionalCoAttention final : public Structure {
 public:
  PositionalCoAttention(const Options&, const StructureOptions& given)
      : Structure(given, "scaled_dot + softmax"),
        width_(same_width("positional_co_attention", width_of(0), width_of(1))),
        affinity_(parameter("affinity", {3 * width_})),
        to_video_(affinity_slot("to_video", width_)),
        to_question_(affinity_slot("to_question", 2 * width_)) {
    StructureOptions one{
        .hidden_dim = given.hidden_dim, .num_heads = given.num_heads, .mechanism = inside(), .dropout = given.dropout};
    for (size_t i = 0; i < 2; ++i) {
      one.features = {width_of(i)};
      read_.push_back(nested(i == 0 ? "video" : "question", "self_attentive(features, norm)", one));
    }
  }

  StructureSignature takes() const override { return {.features = {"video", "question"}}; }
  int64_t width() const override { return 4 * width_; }

 private:
  /// A slot with trilinear scores and the alignment of the mechanism.
  Slot affinity_slot(const std::string& name, int64_t values) {
    return slot_of(AttentionOptions{.query_dim = width_ + 2,
                                    .key_dim = width_ + 2,
                                    .value_dim = values,
                                    .mechanism = Mechanism::parse("dot + " + mechanism().parts().align.to_string()),
                                    .dropout = options().dropout},
                   name);
  }

  Features read(size_t input, const StructureInput& in, StructureOutput& out) const {
    const Features& f = in.features[input];
    const auto positions = sinusoidal_positions(f.length(), f.width(), Layout::interleaved, 0, f.rows.options());
    const StructureOutput read = read_[input](out, {.features = {f.with_rows(f.rows + positions)}, .call = in.call});
    return f.with_rows(read.context);
  }

  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const Features video = read(0, in, out), question = read(1, in, out);
    const Sides sides = trilinear_sides(affinity_, video, question);
    const auto seen = to_video_(out, sides.second.rows, sides.first, in.call, video.rows);  // [B, m, D]
    const auto found =
        to_question_(out, sides.first.rows, sides.second, in.call, beside({question.rows, seen})).chunk(2, -1);
    const auto& v = video.rows;
    out.context = video.with_rows(beside({v, found[0], v * found[0], v * found[1]})).without_padding().rows;
    out.keep = video.keep;
    return out;
  }

  int64_t width_;
  Tensor affinity_;
  Slot to_video_, to_question_;
  std::vector<Nested> read_;
};

const Structure::Parts::Entry positional_co_attention_entry{
    "positional_co_attention",
    make_structure<PositionalCoAttention>,
    {.formula = "out_i = [v_i; A_i; v_i * A_i; v_i * B_i], V and Q each LayerNorm(F + Att(F, F)), F with positions",
     .paper = "Li et al., 2019",
     .cost = "n1^2 D + n2^2 D + n1 n2 D",
     .choose = "two sequences, no recurrence: video or text and a question",
     .axis = "features",
     .synonyms = {"psac"},
     .order = 11}};

const Preset::Entry li_2019{
    "li_2019",
    {.paper = "Li et al., 2019, Beyond RNNs: Positional self-attention with co-attention for video question answering",
     .axes = {"parallel", "single", "single", "scaled_dot", "softmax", "single", "self_attentive + specialized",
              "singular"},
     .structure = "positional_co_attention",
     .mechanisms = {"scaled_dot + softmax"}}};

}  // namespace
}  // namespace heed
