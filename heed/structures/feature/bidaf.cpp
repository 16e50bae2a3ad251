// Bi-directional attention flow (Seo et al., 2017): a question-aware representation of each document word.
//
//   A_ij = w . [h_i; u_j; h_i * u_j]
//   u~_i = sum_j align(A_i.)_j u_j            context-to-query: each document word attends to the question
//   h~   = sum_i align(max_j A_ij)_i h_i      query-to-context: one vector, from each word's best match
//   out_i = [h_i; u~_i; h_i * u~_i; h_i * h~] [B, n, 4D]
//
// The authors' code adds a scalar to A; it cancels in softmax, sparsemax and entmax and is left out. If the question is
// empty, u~ and h~ are 0.

#include "heed/structures/feature/affinity.h"

namespace heed {
namespace {

class Bidaf final : public Structure {
 public:
  Bidaf(const Options&, const StructureOptions& options)
      : Structure(options, "softmax"),
        width_(same_width("bidaf", width_of(0), width_of(1))),
        affinity_(parameter("affinity", {3 * width_})),
        to_question_(slot("to_question", width_ + 2, width_ + 2, width_)),
        to_document_(slot("to_document", 1, 1, width_)) {}

  StructureSignature takes() const override { return {.features = {"document", "question"}}; }
  int64_t width() const override { return 4 * width_; }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto &document = in.features[0], &question = in.features[1];
    const Sides sides = trilinear_sides(affinity_, document, question);
    const auto asked = to_question_(out, sides.first.rows, sides.second, in.call, question.rows);  // u~ [B, n, D]
    const auto scores = best_matches(sides.first, sides.second, in.call);
    const auto wanted = to_document_(out, unit_query(document), scores, in.call, document.rows);  // h~ [B, 1, D]

    const auto& h = document.rows;
    out.context = document.with_rows(beside({h, asked, h * asked, h * wanted})).without_padding().rows;
    out.keep = document.keep;
    return out;
  }

  int64_t width_;
  Tensor affinity_;
  Slot to_question_, to_document_;
};

const Structure::Parts::Entry bidaf_entry{
    "bidaf",
    make_structure<Bidaf>,
    {.formula = "out_i = [h_i; u~_i; h_i * u~_i; h_i * h~], u~_i = Att(h_i, U), h~ = Att(max_j A_ij, H)",
     .paper = "Seo et al., 2017",
     .cost = "n1 n2 D, O(n1 D) memory",
     .choose = "reading comprehension: a context for every word of the document, to be read on",
     .axis = "features",
     .synonyms = {"bidirectional_attention_flow"},
     .order = 8}};

}  // namespace
}  // namespace heed
