// Dynamic co-attention encoder (DCN; Xiong et al., 2017): the question attends to the document, then the document
// attends to the question and to what it found.
//
//   L = D Q^T
//   C^Q_j = sum_i align(L_.j)_i d_i                 [m, D], over the document
//   C^D_i = sum_j align(L_i.)_j [q_j; C^Q_j]        [n, 2D], over the question
//   out_i = [d_i; C^D_i]                            [B, n, 3D]
//
// Document and question each have a learned sentinel in addition to their words, so that a word can attend to nothing
// in particular; sentinels have no output. They come first, so padding stays last. With them no input is empty: without
// a question, a word attends to the question's sentinel. Left to the caller: the encoders, the layer tanh(W q + b) on
// the question before, and the BiLSTM over out after.

#include "heed/structures/feature/affinity.h"

namespace heed {
namespace {

class Dcn final : public Structure {
 public:
  Dcn(const Options& spec, const StructureOptions& options)
      : Structure(options, "softmax"), width_(same_width("dcn", width_of(0), width_of(1))) {
    if (spec.flag("sentinels", true)) {
      document_sentinel_ = parameter("document_sentinel", {width_});
      question_sentinel_ = parameter("question_sentinel", {width_});
    }
    to_document_ = slot("to_document", width_, width_);
    to_question_ = slot("to_question", width_, width_, 2 * width_);
  }

  StructureSignature takes() const override { return {.features = {"document", "question"}}; }
  int64_t width() const override { return 3 * width_; }

 private:
  StructureOutput arrange(const StructureInput& in) override {
    StructureOutput out;
    const auto& words = in.features[0];
    const Features document = with_sentinel(document_sentinel_, words);                                 // [B, n + 1, D]
    const Features question = with_sentinel(question_sentinel_, in.features[1]);                        // [B, m + 1, D]
    const auto seen = to_document_(out, question.rows, document, in.call);                              // C^Q
    const auto read = to_question_(out, words.rows, question, in.call, beside({question.rows, seen}));  // C^D

    out.context = words.with_rows(beside({words.rows, read})).without_padding().rows;
    out.keep = words.keep;
    return out;
  }

  static Features with_sentinel(const Tensor& sentinel, const Features& words) {
    if (!sentinel.defined()) return words;
    Features all{at::cat({sentinel.expand({words.batch(), 1, sentinel.size(0)}), words.rows}, 1)};
    if (words.keep.defined()) all.keep = at::cat({at::ones({words.batch(), 1}, words.keep.options()), words.keep}, 1);
    return all;
  }

  int64_t width_;
  Tensor document_sentinel_, question_sentinel_;  // undefined: there are none
  Slot to_document_, to_question_;
};

const Structure::Parts::Entry dcn_entry{
    "dcn",
    make_structure<Dcn>,
    {.formula = "out_i = [d_i; Att(d_i, Q) over [q_j; C^Q_j]], C^Q_j = Att(q_j, D), with sentinels",
     .paper = "Xiong et al., 2017",
     .cost = "n1 n2 D twice, O((n1 + n2) D) memory",
     .choose = "reading comprehension, where words of the document should see the document through the question",
     .axis = "features",
     .variants = {"dcn(sentinels=false)"},
     .synonyms = {"dynamic_coattention"},
     .order = 9}};

}  // namespace
}  // namespace heed
