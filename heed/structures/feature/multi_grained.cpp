// Multi-grained co-attention (MGAN; Fan et al., 2018): interactive co-attention, which compares with means, combined
// with trilinear co-attention, which compares feature by feature.
//
//   coarse   c1 = Att(mean(F2), F1), c2 = Att(mean(F1), F2), score k . (W q), one W for each side
//   fine     m1, m2: scores e1_i = max_j A_ij, e2_j = max_i A_ij of A_ij = w . [f1_i; f2_j; f1_i * f2_j]
//   out = [c1; m1; m2; c2]
//
// Left to the caller: the paper's position weights 1 - distance / length, which scale the input features, and its
// aspect alignment loss, which compares the weights of several aspects of one sentence (requested weights are in the
// steps coarse_first and fine_first).

#include "heed/structures/feature/affinity.h"

namespace heed {
namespace {

class MultiGrained final : public Structure {
 public:
  MultiGrained(const Options&, const StructureOptions& options)
      : Structure(options, "softmax"),
        width_(same_width("multi_grained", width_of(0), width_of(1))),
        affinity_(parameter("affinity", {3 * width_})),
        coarse_first_(slot_with_score("general", "coarse_first", width_, width_)),
        fine_first_(slot("fine_first", 1, 1, width_)),
        fine_second_(slot("fine_second", 1, 1, width_)),
        coarse_second_(slot_with_score("general", "coarse_second", width_, width_)) {}

  StructureSignature takes() const override { return {.features = {"first", "second"}}; }
  int64_t width() const override { return 4 * width_; }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto &first = in.features[0], &second = in.features[1];
    const Sides sides = trilinear_sides(affinity_, first, second);
    const auto e1 = best_matches(sides.first, sides.second, in.call);  // rows [B, n1, 1]
    const auto e2 = best_matches(sides.second, sides.first, in.call);  // rows [B, n2, 1]
    const auto one = unit_query(first);

    const auto c1 = coarse_first_(out, mean(second), first, in.call);
    const auto m1 = fine_first_(out, one, e1, in.call, first.rows);
    const auto m2 = fine_second_(out, one, e2, in.call, second.rows);
    const auto c2 = coarse_second_(out, mean(first), second, in.call);
    out.context = beside({c1, m1, m2, c2});  // [B, 1, 4D]
    return out;
  }

  int64_t width_;
  Tensor affinity_;
  Slot coarse_first_, fine_first_, fine_second_, coarse_second_;
};

const Structure::Parts::Entry multi_grained_entry{
    "multi_grained",
    make_structure<MultiGrained>,
    {.formula = "[Att(mean(F2), F1); m1; m2; Att(mean(F1), F2)], m by max_j w . [f1_i; f2_j; f1_i * f2_j]",
     .paper = "Fan et al., 2018",
     .cost = "n1 n2 D, O(n1 + n2) memory",
     .choose = "two inputs, everything at once: means and single features",
     .axis = "features",
     .synonyms = {"mgan"},
     .order = 6}};

}  // namespace
}  // namespace heed
