// Attention over attention (Cui et al., 2017): each word of a question attends to the document, and the weights are
// averaged by how much the document attends to that word.
//
//   M = D Q^T        alpha_.j = align over the document (M_.j)        beta_i. = align over the question (M_i.)
//   b = mean_i beta_i                                over real words of the document
//   s_i = sum_j alpha_ij b_j                         a distribution over the document
//   out = sum_i s_i d_i = mean_i sum_j beta_ij (sum_k alpha_kj d_k)
//
// The paper uses s, not out: also["distribution"] [B, n]. The score of a candidate answer is the sum of s over its
// positions, which the caller computes. s needs the weights of both steps, so the steps always hold them, requested or
// not. s has no dropout; out, computed in the right-hand form, does.

#include "heed/structures/feature/affinity.h"

namespace heed {
namespace {

class AttentionOverAttention final : public Structure {
 public:
  AttentionOverAttention(const Options&, const StructureOptions& options)
      : Structure(options, "softmax"),
        width_(same_width("attention_over_attention", width_of(0), width_of(1))),
        to_document_(slot("to_document", width_, width_)),
        to_question_(slot("to_question", width_, width_)) {}

  StructureSignature takes() const override { return {.features = {"document", "question"}}; }
  int64_t width() const override { return width_; }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto &document = in.features[0], &question = in.features[1];
    Call call = in.call;
    call.outputs.weights = true;
    call.outputs.rows.clear();
    const auto seen = to_document_(out, question.rows, document, call);         // [B, m, D]
    const auto asked = to_question_(out, document.rows, question, call, seen);  // [B, n, D]
    out.context = mean(document.with_rows(asked));                              // [B, 1, D]

    const auto share = mean(document.with_rows(out.step("to_question").weights));              // b [B, 1, m]
    out.also["distribution"] = at::matmul(share, out.step("to_document").weights).squeeze(1);  // s [B, n]
    return out;
  }

  int64_t width_;
  Slot to_document_, to_question_;
};

const Structure::Parts::Entry attention_over_attention_entry{
    "attention_over_attention",
    make_structure<AttentionOverAttention>,
    {.formula = "s = alpha mean_i(beta_i), alpha = align over D, beta = align over Q of D Q^T; sum_i s_i d_i",
     .paper = "Cui et al., 2017",
     .cost = "n1 n2 D, n1 n2 memory",
     .choose = "the answer is a word of the document: s says where it is",
     .axis = "features",
     .synonyms = {"aoa"},
     .order = 10}};

}  // namespace
}  // namespace heed
