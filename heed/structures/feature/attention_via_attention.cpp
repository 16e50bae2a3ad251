// Attention via attention (Zhao & Zhang, 2018): the context of a coarse level is part of the query over a fine one.
//
//   c^w = Att(q, words),   c^c = Att([q; c^w], characters),   context [c^c; c^w]
//
// Both levels are inputs. Words receive gradients directly and through the query over the characters.

#include "heed/structures/joined_query.h"

namespace heed {
namespace {

class AttentionViaAttention final : public WithJoinedQuery {
 public:
  AttentionViaAttention(const Options&, const StructureOptions& options)
      : WithJoinedQuery(options, "additive + softmax"),
        coarse_(slot("words", width_of_query(), width_of(1))),
        fine_(joined_slot("characters", width_of_query() + width_of(1), width_of(0))) {}

  StructureSignature takes() const override { return {.features = {"characters", "words"}, .query = true}; }
  int64_t width() const override { return width_of(0) + width_of(1); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto of_words = coarse_(out, in.query, in.features[1], in.call);                 // [B, Lq, Dw]
    const auto of_characters = fine_(out, {in.query, of_words}, in.features[0], in.call);  // [B, Lq, Dc]
    out.context = beside({of_characters, of_words});
    return out;
  }

  Slot coarse_;
  JoinedSlot fine_;
};

const Structure::Parts::Entry attention_via_attention_entry{
    "attention_via_attention",
    make_structure<AttentionViaAttention>,
    {.formula = "c^w = Att(q, F^w), c^c = Att([q; c^w], F^c), [c^c; c^w]",
     .paper = "Zhao & Zhang, 2018",
     .cost = "a mechanism for each of two levels",
     .choose = "two levels that are both embedded already: characters and words",
     .axis = "levels",
     .order = 2}};

}  // namespace
}  // namespace heed
