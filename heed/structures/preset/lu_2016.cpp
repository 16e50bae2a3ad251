// Hierarchical question-image co-attention (Lu et al., 2016): an image and a question attend to each other at the level
// of words, of phrases and of the whole question.
//
//   phrases      p_t = max over n = 1, 2, 3 of tanh(W_n [x_t ... x_{t+n-1}]), 0 after the last word
//   question     s_t = LSTM(p_1 ... p_t)
//   each level   q^, v^ = co-attention(level, V), V the image projected to the width of the words
//   answer       h_w = tanh(W_w (v^ + q^)), h_p = tanh(W_p [v^ + q^; h_w]), h_s = tanh(W_s [v^ + q^; h_p])
//
// form: parallel or alternating co-attention. In alternating form the question is summarized first: its summary attends
// to the image, and the result attends to the question.

#include <tuple>

#include "heed/structures/encode/recurrent.h"
#include "heed/structures/preset.h"

namespace heed {
namespace {

constexpr int64_t kLongestPhrase = 3;

class HierarchicalCoAttention final : public Structure {
 public:
  HierarchicalCoAttention(const Options& spec, const StructureOptions& given) : Structure(given, "softmax") {
    const auto form = spec.choice("form", {"parallel", "alternating"});
    const int64_t D = width_of(1);
    picture_ = parameter("picture", {D, width_of(0)});
    for (int64_t n = 1; n <= kLongestPhrase; ++n)
      phrases_.push_back(parameter("phrase_" + std::to_string(n), {D, n * D}));
    question_ = register_module(
        "question", Recurrent(RecurrentOptions{.in_dim = D, .out_dim = D, .cell = Cell::lstm, .bidirectional = false}));
    StructureOptions inner{.features = {D}, .hidden_dim = given.hidden_dim, .dropout = given.dropout};
    inner.mechanism = (form == "parallel" ? "" : "additive + ") + inside();
    for (const std::string level : {"words", "phrases", "questions"}) {
      levels_.push_back(nested(level, form + "(sum)", inner));
      answers_.push_back(parameter("answer_" + level, {D, levels_.size() == 1 ? D : 2 * D}));
    }
  }

  StructureSignature takes() const override { return {.features = {"picture", "words"}}; }
  int64_t width() const override { return width_of(1); }

 private:
  /// Elementwise maximum over the phrases of one, two and three words that begin at each word.
  Features phrases_of(const Features& words) const {
    const auto longer = at::constant_pad_nd(words.rows, {0, 0, 0, kLongestPhrase - 1});  // zeros after the last word
    std::vector<Tensor> phrases;
    for (int64_t n = 1; n <= kLongestPhrase; ++n) {
      std::vector<Tensor> following;
      for (int64_t ahead = 0; ahead < n; ++ahead) following.push_back(longer.narrow(1, ahead, words.length()));
      phrases.push_back(at::tanh(at::linear(beside(following), phrases_[static_cast<size_t>(n - 1)])));
    }
    const auto best =
        std::get<0>(at::stack(phrases).max(0));  // the gradient goes to one phrase, the shortest of equal ones
    return words.with_rows(best).without_padding();
  }

  StructureOutput arrange(const StructureInput& in) override {
    const Features picture = in.features[0].with_rows(at::linear(in.features[0].rows, picture_));
    const Features& words = in.features[1];
    const Features phrases = phrases_of(words);
    const std::vector<Features> levels{words, phrases, question_->forward(phrases)};
    StructureOutput out;
    for (size_t i = 0; i < levels.size(); ++i) {
      const auto both = levels_[i](out, {.features = {levels[i], picture}, .call = in.call}).context;  // v^ + q^
      const auto heard = out.context.defined() ? beside({both, out.context}) : both;
      out.context = at::tanh(at::linear(heard, answers_[i]));  // [B, 1, D]
    }
    return out;
  }

  Tensor picture_;
  std::vector<Tensor> phrases_, answers_;
  Recurrent question_{nullptr};
  std::vector<Nested> levels_;
};

const Structure::Parts::Entry hierarchical_co_attention_entry{
    "hierarchical_co_attention",
    make_structure<HierarchicalCoAttention>,
    {.formula = "h_l = tanh(W_l [v^ + q^; h_(l-1)]), q^, v^ = co-attention(level l of Q, V)",
     .paper = "Lu et al., 2016",
     .cost = "three co-attentions",
     .choose = "a question about a picture, or two inputs of which one has words and phrases",
     .axis = "levels",
     .variants = {"hierarchical_co_attention(alternating)"},
     .order = 3}};

const Preset::Entry lu_2016{
    "lu_2016",
    {.paper = "Lu et al., 2016, Hierarchical question-image co-attention for visual question answering",
     .axes = {"parallel, alternating", "hierarchical", "single", "additive", "softmax", "single", "specialized",
              "singular"},
     .structure = "hierarchical_co_attention",
     .mechanisms = {"softmax"}}};

}  // namespace
}  // namespace heed
