// Rotatory attention (LCR-Rot; Zheng & Xia, 2018): a target attends to the text on its left and right, and their
// contexts attend to the target.
//
//   r_t = mean(F_t)
//   r_l = Att(r_t, F_l)          r_r = Att(r_t, F_r)
//   r_lt = Att(r_l, F_t)         r_rt = Att(r_r, F_t)          out = [r_l; r_r; r_lt; r_rt]
//
// With several hops (LCR-Rot-hop; Wallaart & Frasincar, 2019; three in the paper) this repeats, with r_lt on the left
// and r_rt on the right as queries instead of r_t. (The published HAABSA code uses the pooled target as the query of
// every hop, so that all hops but the last have no effect.) Each hop has its own four sets of parameters, or all hops
// share four if `tied`. An empty side is common, for a target at the edge of its sentence: its vector is 0, and with
// the paper's score a zero query gives the mean of the target.

#include "heed/structures/query/hops.h"
#include "heed/structures/structure.h"

namespace heed {
namespace {

class Rotatory final : public Structure {
 public:
  Rotatory(const Options& spec, const StructureOptions& options)
      : Structure(options, "activated_general + softmax"), hops_(spec.integer("hops", 1)) {
    checked_hops("structure/rotatory", hops_);
    const int64_t sets = spec.flag("tied") ? 1 : hops_;
    const int64_t left = width_of(0), target = width_of(1), right = width_of(2);
    for (int64_t hop = 1; hop <= sets; ++hop) {
      const std::string mark = hop == 1 ? "" : "_" + std::to_string(hop);  // left, left_2, ...
      hop_slots_.push_back({.left = slot("left" + mark, target, left),
                            .right = slot("right" + mark, target, right),
                            .left_target = slot("left_target" + mark, left, target),
                            .right_target = slot("right_target" + mark, right, target)});
    }
  }

  StructureSignature takes() const override { return {.features = {"left", "target", "right"}}; }
  int64_t width() const override { return width_of(0) + width_of(2) + 2 * width_of(1); }

 private:
  struct Hop {
    Slot left, right, left_target, right_target;
  };

  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto &left = in.features[0], &target = in.features[1], &right = in.features[2];
    Tensor r_l, r_r;
    Tensor r_lt = mean(target), r_rt = r_lt;  // [B, 1, D_t]
    for (int64_t hop = 0; hop < hops_; ++hop) {
      const Hop& slots = hop_slots_[hop_slots_.size() == 1 ? 0 : static_cast<size_t>(hop)];
      r_l = slots.left(out, r_lt, left, in.call);
      r_r = slots.right(out, r_rt, right, in.call);
      r_lt = slots.left_target(out, r_l, target, in.call);
      r_rt = slots.right_target(out, r_r, target, in.call);
    }
    out.context = beside({r_l, r_r, r_lt, r_rt});
    return out;
  }

  int64_t hops_;
  std::vector<Hop> hop_slots_;
};

const Structure::Parts::Entry rotatory_entry{
    "rotatory",
    make_structure<Rotatory>,
    {.formula = "r_l = Att(mean(F_t), F_l), r_lt = Att(r_l, F_t), right alike; [r_l; r_r; r_lt; r_rt]",
     .paper = "Zheng & Xia, 2018; hops: Wallaart & Frasincar, 2019",
     .cost = "four mechanisms with one query each for every hop, one after the other",
     .choose = "a target inside a text: left of it, itself, right of it",
     .axis = "features",
     .variants = {"rotatory(hops=2)", "rotatory(hops=3, tied)"},
     .synonyms = {"lcr_rot"},
     .order = 5}};

}  // namespace
}  // namespace heed
