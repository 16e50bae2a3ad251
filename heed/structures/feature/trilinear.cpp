// Co-attention by the best match (survey 3.1.1, equations 13 and 16): the score of a feature is its largest affinity
// with a feature of the other input.
//
//   A_ij = w . [f1_i; f2_j; f1_i * f2_j]        e1_i = max_j A_ij        e2_j = max_i A_ij
//   c1 = sum_i align(e1)_i f1_i                 c2 = sum_j align(e2)_j f2_j               out = [c1; c2]
//
// The gradient of a maximum goes to the best match alone, the first of equal ones. If either input is empty there is no
// match, and both contexts are 0.

#include "heed/structures/feature/affinity.h"

namespace heed {
namespace {

class Trilinear final : public Structure {
 public:
  Trilinear(const Options&, const StructureOptions& options)
      : Structure(options, "softmax"),
        width_(same_width("trilinear", width_of(0), width_of(1))),
        affinity_(parameter("affinity", {3 * width_})),
        first_(slot("first", 1, 1, width_)),
        second_(slot("second", 1, 1, width_)) {}

  StructureSignature takes() const override { return {.features = {"first", "second"}}; }
  int64_t width() const override { return 2 * width_; }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto &first = in.features[0], &second = in.features[1];
    const Sides sides = trilinear_sides(affinity_, first, second);
    const auto e1 = best_matches(sides.first, sides.second, in.call);           // rows [B, n1, 1]
    const auto e2 = best_matches(sides.second, sides.first, in.call);           // rows [B, n2, 1]
    const auto c1 = first_(out, unit_query(first), e1, in.call, first.rows);    // [B, 1, D]
    const auto c2 = second_(out, unit_query(first), e2, in.call, second.rows);  // [B, 1, D]
    out.context = beside({c1, c2});
    return out;
  }

  int64_t width_;
  Tensor affinity_;
  Slot first_, second_;
};

const Structure::Parts::Entry trilinear_entry{
    "trilinear",
    make_structure<Trilinear>,
    {.formula = "e1_i = max_j A_ij, e2_j = max_i A_ij, A_ij = w . [f1_i; f2_j; f1_i * f2_j]; [c1; c2]",
     .paper = "Brauwers & Frasincar, 2023, after Seo et al., 2017, and Fan et al., 2018",
     .cost = "n1 n2 D, O(n1 + n2) memory",
     .choose = "two inputs of one kind, where one good match is what makes a feature count",
     .axis = "features",
     .order = 7}};

}  // namespace
}  // namespace heed
