// Singular features, basic query (survey 3.1.1, 3.3.1): the general attention module.
//
//   c = Att(q, F)
//
// The query comes from the data or from the model: the state of a decoder, a patient's record, an image. One class has
// two catalogue names, since it is an entry on two axes of the taxonomy: number of inputs, and type of query.

#include "heed/structures/structure.h"

namespace heed {
namespace {

class Singular final : public Structure {
 public:
  Singular(const Options&, const StructureOptions& options)
      : Structure(options, "scaled_dot + softmax"), attend_(slot("attend", width_of_query(), width_of(0))) {}

  StructureSignature takes() const override { return {.features = {"features"}, .query = true, .masks = true}; }
  int64_t width() const override { return width_of(0); }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    out.context = attend_(out, in.query, in.features[0], in.call);
    return out;
  }

  Slot attend_;
};

const Structure::Parts::Entry singular_entry{"singular",
                                             make_structure<Singular>,
                                             {.formula = "c = Att(q, F)",
                                              .paper = "Brauwers & Frasincar, 2023",
                                              .cost = "one mechanism",
                                              .choose = "one input: the default",
                                              .axis = "features",
                                              .synonyms = {"single_input"},
                                              .order = 1}};
const Structure::Parts::Entry basic_entry{"basic",
                                          make_structure<Singular>,
                                          {.formula = "c = Att(q, F), q from the data or the model",
                                           .paper = "Bahdanau et al., 2015",
                                           .cost = "one mechanism",
                                           .choose = "a query is at hand: a decoder's state, a candidate, a picture",
                                           .axis = "query",
                                           .synonyms = {"cross_attention", "encoder_decoder"},
                                           .order = 1}};

}  // namespace
}  // namespace heed
