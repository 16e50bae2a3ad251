// Interactive co-attention (IAN; Ma et al., 2017): the mean of each input is the query over the other.
//
//   c1 = Att(mean(F2), F1)        c2 = Att(mean(F1), F2)        out = [c1; c2]
//
// Means are over real features. The paper's score is act(k . (W q) + b), with separate parameters for each input (the
// survey's text says additive, its table activated general).

#include "heed/structures/structure.h"

namespace heed {
namespace {

class Interactive final : public Structure {
 public:
  Interactive(const Options&, const StructureOptions& options)
      : Structure(options, "activated_general + softmax"),
        first_(slot("first", width_of(1), width_of(0))),
        second_(slot("second", width_of(0), width_of(1))) {}

  StructureSignature takes() const override { return {.features = {"first", "second"}}; }
  int64_t width() const override { return width_of(0) + width_of(1); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto &first = in.features[0], &second = in.features[1];
    const auto c1 = first_(out, mean(second), first, in.call);   // [B, 1, D1]
    const auto c2 = second_(out, mean(first), second, in.call);  // [B, 1, D2]
    out.context = beside({c1, c2});
    return out;
  }

  Slot first_, second_;
};

const Structure::Parts::Entry interactive_entry{"interactive",
                                                make_structure<Interactive>,
                                                {.formula = "[Att(mean(F2), F1); Att(mean(F1), F2)]",
                                                 .paper = "Ma et al., 2017",
                                                 .cost = "two mechanisms with one query each, side by side",
                                                 .choose = "two inputs, cheaply: the default for two",
                                                 .axis = "features",
                                                 .synonyms = {"ian", "coarse_grained"},
                                                 .order = 2}};

}  // namespace
}  // namespace heed
