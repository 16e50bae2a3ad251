// Alternating co-attention (Lu et al., 2016): the inputs take turns; the context of one is the query over the other.
//
//   c0 = Att(F1), self-attentive        c2 = Att(c0, F2)        c1 = Att(c2, F1)        out = [c1; c2], or c1 + c2
//
// Every step has its own parameters, as in the authors' code. In the survey's text, step 3 shares the parameters of
// step 1 and adds a term for the query: with `tied`, step 1 uses the slot of step 3 with a zero query, which for the
// additive score is exactly w . act(W k + b). An alignment that depends on the query (local_p) requires `tied`, since
// untied step 1 has no query. c0 is only used as a query. Lu et al. sum the contexts.

#include "heed/structures/feature/affinity.h"

namespace heed {
namespace {

class Alternating final : public Structure {
 public:
  Alternating(const Options& spec, const StructureOptions& options)
      : Structure(options, "additive + softmax"),
        tied_(spec.flag("tied")),
        sum_(spec.choice("join", {"concat", "sum"}) == "sum") {
    if (sum_) same_width("alternating", width_of(0), width_of(1));
    if (!tied_) ask_ = slot_with_score("self_attentive", "ask", 0, width_of(0));
    second_ = slot("second", width_of(0), width_of(1));
    first_ = slot("first", width_of(1), width_of(0));
  }

  StructureSignature takes() const override { return {.features = {"first", "second"}}; }
  int64_t width() const override { return sum_ ? width_of(0) : width_of(0) + width_of(1); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto &first = in.features[0], &second = in.features[1];
    const auto c0 = ask(out, first, in.call);           // [B, 1, D1]
    const auto c2 = second_(out, c0, second, in.call);  // [B, 1, D2]
    const auto c1 = first_(out, c2, first, in.call);    // [B, 1, D1]
    out.context = sum_ ? c1 + c2 : beside({c1, c2});
    return out;
  }

  Tensor ask(StructureOutput& out, const Features& first, const Call& call) const {
    if (!tied_) return ask_(out, {}, first, call);
    return first_(out, at::zeros({first.batch(), 1, width_of(1)}, first.rows.options()), first, call);
  }

  bool tied_, sum_;
  Slot ask_, second_, first_;
};

const Structure::Parts::Entry alternating_entry{
    "alternating",
    make_structure<Alternating>,
    {.formula = "c0 = Att(F1), c2 = Att(c0, F2), c1 = Att(c2, F1); [c1; c2]",
     .paper = "Lu et al., 2016",
     .cost = "three mechanisms with one query each, one after the other",
     .choose = "two inputs, where one is to be read in the light of the other and a sequence of steps is no harm",
     .axis = "features",
     .variants = {"alternating(tied)", "alternating(sum)"},
     .order = 4}};

}  // namespace
}  // namespace heed
