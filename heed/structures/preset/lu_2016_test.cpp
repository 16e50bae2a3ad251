// Hierarchical question-image co-attention.

#include "heed/structures/testing_plain.h"

namespace heed::testing {
namespace {

/// Image regions of width 5, words of width 4, hidden width 3.
std::shared_ptr<Structure> picture_and_words(const std::string& spec) {
  return stirred(spec, {.features = {5, 4}, .hidden_dim = 3});
}

/// Elementwise maximum over the phrases that begin at each word: x [L, D].
Tensor plain_phrases(const Plain& p, const Tensor& x) {
  const auto longer = at::cat({x, at::zeros({2, x.size(1)}, kDouble)});  // zeros after the last word
  std::vector<Tensor> rows;
  for (int64_t t = 0; t < x.size(0); ++t) {
    Tensor best = at::full({x.size(1)}, -INFINITY, kDouble);
    for (int64_t n = 1; n <= 3; ++n) {
      const auto phrase = at::tanh(p["phrase_" + std::to_string(n)].matmul(longer.narrow(0, t, n).flatten()));
      best = at::where(phrase > best, phrase, best);
    }
    rows.push_back(best);
  }
  return at::stack(rows);
}

/// The states of an LSTM, step by step.
Tensor plain_lstm(const Plain& p, const Tensor& x) {
  Tensor h = at::zeros({x.size(1)}, kDouble), c = at::zeros({x.size(1)}, kDouble);
  std::vector<Tensor> states;
  for (int64_t t = 0; t < x.size(0); ++t) {
    const auto gates =
        (p.linear(x[t], "weight_ih_l0", "bias_ih_l0") + p.linear(h, "weight_hh_l0", "bias_hh_l0")).chunk(4);
    c = at::sigmoid(gates[1]) * c + at::sigmoid(gates[0]) * at::tanh(gates[2]);
    h = at::sigmoid(gates[3]) * at::tanh(c);
    states.push_back(h);
  }
  return at::stack(states);
}

/// q^ + v^ by parallel co-attention: q [m, D], v [n, D].
Tensor plain_parallel(const Plain& p, const Tensor& q, const Tensor& v) {
  const auto affinity = at::tanh(q.matmul(p["between"]).matmul(v.t()));  // [m, n]
  const auto says_q = p.linear(q, "from_first", ""), says_v = p.linear(v, "from_second", "");
  const auto e_q = at::tanh(says_q + affinity.matmul(says_v)).matmul(p["first.score.query"][0]);
  const auto e_v = at::tanh(says_v + affinity.t().matmul(says_q)).matmul(p["second.score.query"][0]);
  return plain_read(e_q, q) + plain_read(e_v, v);
}

/// w . tanh(W_q q + W_k k + b) over the keys.
Tensor plain_additive(const Plain& p, const Tensor& query, const Tensor& keys) {
  const auto hidden = at::tanh(p.linear(query, "from_query", "bias") + p.linear(keys, "from_keys", ""));
  return plain_read(hidden.matmul(p["to_scores"][0]), keys);
}

/// The same, alternating: the question's summary attends to the image, and the result attends to the question.
Tensor plain_alternating(const Plain& p, const Tensor& q, const Tensor& v) {
  const auto hidden = at::tanh(p.linear(q, "ask.score.from_keys", "ask.score.bias"));
  const auto summary = plain_read(hidden.matmul(p["ask.score.query"][0]), q);
  const auto seen = plain_additive(p.under("second.score"), summary, v);
  return seen + plain_additive(p.under("first.score"), seen, q);
}

Tensor plain_answer(const Structure& made, const Tensor& picture, const Tensor& spec) {
  const Plain p{made};
  const auto both = made.to_string().find("alternating") == std::string::npos ? plain_parallel : plain_alternating;
  const auto v = p.linear(picture, "picture", "");
  const auto phrases = plain_phrases(p, spec), question = plain_lstm(p.under("question.lstm"), phrases);
  const auto h_w = at::tanh(p["answer_words"].matmul(both(p.under("words"), spec, v)));
  const auto h_p = at::tanh(p["answer_phrases"].matmul(at::cat({both(p.under("phrases"), phrases, v), h_w})));
  return at::tanh(p["answer_questions"].matmul(at::cat({both(p.under("questions"), question, v), h_p})));
}

TEST(HierarchicalCoAttention, IsItsFormula) {
  for (const std::string spec : {"hierarchical_co_attention", "hierarchical_co_attention(alternating)"}) {
    const auto made = picture_and_words(spec);
    const Features picture = random_features(6, 5), question = random_features(5, 4);
    const auto out = made->forward({.features = {picture, question}});
    EXPECT_EQ(out.context.sizes(), (std::vector<int64_t>{1, 1, 4})) << spec;
    EXPECT_TRUE(close(out.context[0][0], plain_answer(*made, picture.rows[0], question.rows[0]))) << spec;
  }
}

// A phrase that begins at the last word continues with zeros, however much padding follows.
TEST(HierarchicalCoAttention, EndsPhrasesWithTheQuestion) {
  const auto made = picture_and_words("hierarchical_co_attention");
  const Features picture = random_features(3, 5);
  for (const int64_t length : {1, 2}) {
    const Features question = random_features(length, 4);
    const auto expected = plain_answer(*made, picture.rows[0], question.rows[0]);
    EXPECT_TRUE(close(made->forward({.features = {picture, question}}).context[0][0], expected)) << length;
    Features longer{at::constant_pad_nd(question.rows, {0, 0, 0, 3}, NAN)};
    longer.keep = longer.rows.select(-1, 0).isfinite();
    EXPECT_TRUE(close(made->forward({.features = {picture, longer}}).context[0][0], expected)) << length;
  }
}

// Of phrases with equal values, the shortest gets the gradient.
TEST(HierarchicalCoAttention, GivesTheGradientOfTheBestPhraseToTheShortestOfEquals) {
  const auto made = picture_and_words("hierarchical_co_attention");
  auto p = made->named_parameters();
  {
    const at::NoGradGuard no_grad;
    for (const int64_t n : {2, 3})
      p["phrase_" + std::to_string(n)].copy_(at::constant_pad_nd(p["phrase_1"], {0, 4 * (n - 1)}));
  }
  const auto out = made->forward({.features = {random_features(3, 5), random_features(4, 4)}}).context;
  const auto grads = gradients((out * waves(out)).sum(), {p["phrase_1"], p["phrase_2"], p["phrase_3"]});
  EXPECT_GT(largest(grads[0]), 1e-6);
  EXPECT_EQ(largest(grads[1]), 0);
  EXPECT_EQ(largest(grads[2]), 0);
}

TEST(HierarchicalCoAttention, SumsUpTheQuestionFirstWhenAlternating) {
  const auto made = picture_and_words("hierarchical_co_attention(form=alternating)");
  const auto out = made->forward(
      {.features = {random_features(6, 5), random_features(3, 4)}, .call = {.outputs = {.weights = true}}});
  EXPECT_EQ(out.steps.size(), 9);
  for (const std::string level : {"words", "phrases", "questions"}) {
    EXPECT_EQ(out.step(level + "/ask").weights.size(-1), 3) << level;
    EXPECT_EQ(out.step(level + "/second").weights.size(-1), 6) << level;
    EXPECT_EQ(out.step(level + "/first").weights.size(-1), 3) << level;
  }
}

TEST(HierarchicalCoAttention, AnswersWithoutAPictureOrAQuestion) {
  for (const std::string spec : {"hierarchical_co_attention", "hierarchical_co_attention(alternating)"}) {
    const auto made = picture_and_words(spec);
    const auto blind = made->forward({.features = {random_features(0, 5), random_features(3, 4)}}).context;
    EXPECT_TRUE(blind.isfinite().all().item<bool>() && largest(blind) > 0) << spec;
    const auto mute = made->forward({.features = {random_features(3, 5), random_features(0, 4)}}).context;
    EXPECT_TRUE(mute.isfinite().all().item<bool>() && largest(mute) > 0) << spec;
    EXPECT_EQ(largest(made->forward({.features = {random_features(0, 5), random_features(0, 4)}}).context), 0) << spec;
  }
}

TEST(HierarchicalCoAttention, RefusesOtherFormsAndScores) {
  EXPECT_THROW(structure("hierarchical_co_attention(rotatory)", {.features = {4}}), Error);
  EXPECT_THROW(structure("hierarchical_co_attention", {.features = {4}, .mechanism = "dot + softmax"}), Error);
}

}  // namespace
}  // namespace heed::testing
