// Specialized query (survey 3.3.1): the query is the mean of a second input, or the context of an attention over it.
//
//   form mean:     q = mean(G)                  form attention:   q = Att(G), self-attentive
//   c = Att(q, F)

#include "heed/structures/structure.h"

namespace heed {
namespace {

class Specialized final : public Structure {
 public:
  Specialized(const Options& spec, const StructureOptions& options)
      : Structure(options, "additive + softmax"), mean_(spec.choice("form", {"mean", "attention"}) == "mean") {
    if (!mean_) ask_ = slot_with_score("self_attentive", "ask", 0, width_of(1));
    attend_ = slot("attend", width_of(1), width_of(0));
  }

  StructureSignature takes() const override { return {.features = {"features", "other"}}; }
  int64_t width() const override { return width_of(0); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto& other = in.features[1];
    const auto query = mean_ ? mean(other) : ask_(out, {}, other, in.call);
    out.context = attend_(out, query, in.features[0], in.call);  // [B, 1, D]
    return out;
  }

  bool mean_;
  Slot ask_, attend_;
};

const Structure::Parts::Entry specialized_entry{"specialized",
                                                make_structure<Specialized>,
                                                {.formula = "c = Att(q, F), q = mean(G) or Att(G)",
                                                 .paper = "Brauwers & Frasincar, 2023",
                                                 .cost = "one mechanism, and a pass over G",
                                                 .choose = "what to look for stands in a second input",
                                                 .axis = "query",
                                                 .variants = {"specialized(attention)"},
                                                 .order = 3}};

}  // namespace
}  // namespace heed
