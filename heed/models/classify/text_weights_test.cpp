#include "heed/models/classify/text_weights.h"

#include <cmath>

#include "heed/attention/testing.h"
#include "heed/data/testing.h"
#include "heed/models/classify/testing_classifier.h"

namespace heed::testing {
namespace {

using Words = std::vector<std::string>;

const std::string kLongText =
    "was it the film or was it the soup ? no one liked the soup . a bad end . no film was hot";

/// float: the sum of up to 25 weights, each rounded by 6e-8 after an exp of a few units in the last digit.
constexpr double kSum = 1e-5;

double sum_of(const std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  return sum;
}

void expect_rows_of_one(const TextWeights& one) {
  for (const auto& row : one.weights) {
    ASSERT_EQ(row.size(), one.words.size());
    EXPECT_NEAR(sum_of(row), 1, kSum) << one.step;
    for (const double weight : row) EXPECT_GE(weight, 0);
  }
}

Words steps_in(const std::vector<TextWeights>& all) {
  Words names;
  for (const auto& one : all) names.push_back(one.step);
  return names;
}

// By hand: the weights of the pieces, those of a word summed.
TEST(TextWeights, AreTheSumsOverThePiecesOfEachWord) {
  for (const char* tokenizer : {"words", "bpe(merges=6)", "characters"}) {
    SCOPED_TRACE(tokenizer);
    Classifier classifier = small_classifier({.tokenizer = tokenizer});
    const std::string text = "the film was unseenword or soup";
    const auto all = text_weights(classifier, {text});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].words, (Words{"the", "film", "was", "unseenword", "or", "soup"}));
    ASSERT_EQ(all[0].weights.size(), 1U);
    expect_rows_of_one(all[0]);
    EXPECT_FALSE(all[0].self);
    const at::NoGradGuard no_grad;
    Call call;
    call.outputs.weights = true;
    const Tensor pieces =
        classifier.model().pool(batch_of(classifier, {{text}}), call).output.steps.back().second.weights.flatten();
    const Segmentation segmented = classifier.reader().tokenizer->segment(text);
    std::vector<double> expected(6, 0);
    for (size_t i = 0; i < segmented.ids.size(); ++i)
      expected[static_cast<size_t>(segmented.word[i])] += pieces[static_cast<int64_t>(i)].item<double>();
    for (size_t w = 0; w < 6; ++w) EXPECT_NEAR(all[0].weights[0][w], expected[w], kSum) << w;
    EXPECT_EQ(word_weights(all, "text"), all[0].weights[0]);
  }
}

TEST(TextWeights, OfWordsThatWereCutAreZero) {
  Classifier classifier = small_classifier({.max_length = 2});
  const auto all = text_weights(classifier, {"the film was good"});
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].weights[0].size(), 4U);
  EXPECT_NEAR(all[0].weights[0][0] + all[0].weights[0][1], 1, kSum);
  EXPECT_EQ(all[0].weights[0][2] + all[0].weights[0][3], 0);
}

TEST(TextWeights, HaveARowForEachQuery) {
  Classifier hops = small_classifier({.model = "attention: {structure: multi_hop(hops=3)}"}),
             classes = small_classifier({.model = "attention: {structure: capsule(classes=3)}"}),
             questions = small_classifier({.model = "attention: {structure: 'self_attentive(structured, queries=5)'}"});
  const auto of_hops = text_weights(hops, {"the film was good"}), of_classes = text_weights(classes, {"the film"}),
             of_questions = text_weights(questions, {"the film was good"});
  EXPECT_EQ(of_hops.size(), 3U);
  ASSERT_EQ(of_classes.size(), 1U);
  EXPECT_EQ(of_classes[0].weights.size(), 3U);
  ASSERT_EQ(of_questions.size(), 1U);
  EXPECT_EQ(of_questions[0].weights.size(), 5U);
  for (const auto* all : {&of_hops, &of_classes, &of_questions})
    for (const auto& one : *all) {
      expect_rows_of_one(one);
      EXPECT_FALSE(one.self) << one.step;
    }
  EXPECT_EQ(word_weights(of_hops, "text"), of_hops[2].weights[0]);  // of the last hop
}

TEST(TextWeights, AreThoseOfEachTextByName) {
  Classifier classifier =
      small_classifier({.model = "attention: {structure: interactive}", .columns = {"second", "first"}});
  const auto all = text_weights(classifier, {"no one liked the soup", "the film"});
  ASSERT_EQ(all.size(), 2U);
  for (const auto& one : all) {
    EXPECT_EQ(one.step, one.column);  // the slot that attends to the first text is called so
    EXPECT_EQ(one.words, one.column == "first" ? (Words{"the", "film"}) : (Words{"no", "one", "liked", "the", "soup"}));
    expect_rows_of_one(one);
  }
  EXPECT_EQ(word_weights(all, "first").size(), 2U);
  EXPECT_EQ(word_weights(all, "second").size(), 5U);
  EXPECT_TRUE(word_weights(all, "third").empty());
}

TEST(TextWeights, OfTextsOfOneLengthAreNotConfused) {
  Classifier classifier =
      small_classifier({.model = "attention: {structure: rotatory(hops=1)}", .columns = {"left", "target", "right"}});
  const auto all = text_weights(classifier, {"the good", "film was", "a soup"});
  for (const auto& one : all) {
    EXPECT_EQ(one.words, one.column == "left"    ? (Words{"the", "good"})
                         : one.column == "right" ? (Words{"a", "soup"})
                                                 : (Words{"film", "was"}));
    expect_rows_of_one(one);
  }
  for (const char* column : {"left", "target", "right"}) EXPECT_NEAR(sum_of(word_weights(all, column)), 1, kSum);
}

TEST(TextWeights, OfADocumentHaveTwoLevels) {
  Classifier classifier =
      small_classifier({.model = "features: {dim: 8}, attention: {preset: yang_2016}", .sentences = "rule"});
  const auto all = text_weights(classifier, {"The film was good . No soup ! Was it the end ?"});
  EXPECT_EQ(steps_in(all), (Words{"level_1", "level_1", "level_1", "level_2"}));
  EXPECT_EQ(all[1].words, (Words{"No", "soup", "!"}));
  EXPECT_EQ(all[1].sentence, 1);
  EXPECT_EQ(all[3].words, (Words{"The film was good .", "No soup !", "Was it the end ?"}));
  EXPECT_TRUE(all[3].sentences);
  for (const auto& one : all) {
    ASSERT_EQ(one.weights.size(), 1U);
    expect_rows_of_one(one);
  }
  const auto words = word_weights(all, "text");
  ASSERT_EQ(words.size(), 13U);
  EXPECT_NEAR(sum_of(words), 1, kSum);
  EXPECT_NEAR(words[5], all[3].weights[0][1] * all[1].weights[0][0], 1e-12);
}

TEST(TextWeights, AreTheMeanOfTheirHeads) {
  Classifier classifier = small_classifier(
      {.model = "features: {dim: 8}, attention: {mechanism: scaled_dot + softmax, num_heads: 2}, query: summary"});
  const auto mean = text_weights(classifier, {"the film was good"}),
             first = text_weights(classifier, {"the film was good"}, 1),
             second = text_weights(classifier, {"the film was good"}, 2);
  EXPECT_EQ(mean[0].heads, 2);
  double apart = 0;
  for (size_t w = 0; w < 4; ++w) {
    const double a = first[0].weights[0][w], b = second[0].weights[0][w];
    EXPECT_NEAR(mean[0].weights[0][w], (a + b) / 2, kSum);
    apart = std::max(apart, std::fabs(a - b));
  }
  EXPECT_GT(apart, 1e-3) << "heads must differ for this to test anything";
  EXPECT_TRUE(says(error_of([&] { text_weights(classifier, {"the film"}, 3); }), {"got head 3, expected 1 to 2"}));
}

TEST(TextWeights, OfEveryChannelAreTheirMean) {
  for (const char* mechanism : {"additive + softmax, multi", "additive + softmax, multi(elementwise)"}) {
    Classifier classifier = small_classifier({.model = std::string("attention: '") + mechanism + "', query: learned"});
    const auto all = text_weights(classifier, {"the film was good"});
    ASSERT_EQ(all.size(), 1U) << mechanism;
    EXPECT_EQ(all[0].weights.size(), 1U);
    expect_rows_of_one(all[0]);
  }
}

TEST(TextWeights, OfSelfAttentionHaveARowForEachWord) {
  Classifier classifier = small_classifier(
      {.model = "features: {kind: transformer, num_heads: 2, num_layers: 2}", .tokenizer = "bpe(merges=6)"});
  const auto all = text_weights(classifier, {"the film was unseenword"});
  EXPECT_EQ(steps_in(all), (Words{"features.layers.0.self", "features.layers.1.self", "attend"}));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(all[i].self);
    EXPECT_EQ(all[i].weights.size(), 4U);
    expect_rows_of_one(all[i]);
  }
  EXPECT_EQ(word_weights(all, "text"), all[2].weights[0]);
}

// A word attends to those before it, or to those after it: the first has none, or the last.
TEST(TextWeights, OfADirectionHaveARowForEachWord) {
  Classifier classifier =
      small_classifier({.model = "features: {kind: convolution, dim: 8, widths: 1}, attention: {preset: shen_2018}"});
  int64_t directions = 0;
  for (const auto& one : text_weights(classifier, {"the film was good"})) {
    if (!one.self) continue;
    ASSERT_EQ(one.weights.size(), 4U) << one.step;
    const bool before = one.weights[0][3] == 0;
    for (size_t q = 0; q < 4; ++q) {
      EXPECT_NEAR(sum_of(one.weights[q]), q == (before ? 0U : 3U) ? 0 : 1, kSum) << one.step;
      for (size_t w = 0; w < 4; ++w) EXPECT_EQ(one.weights[q][w] > 0, before ? w < q : w > q) << one.step;
    }
    ++directions;
  }
  EXPECT_EQ(directions, 2);
}

// The queries of a co-attention are the words of the other text, however long it is: padding is no query.
TEST(TextWeights, OfOneTextForAnotherHaveARowForEachOfItsWords) {
  for (const auto& [structure, first, second] :
       {std::tuple{"modular_co_attention(num_layers=1)", "picture", "question"}, {"bidaf", "document", "question"}})
    for (const bool long_first : {false, true}) {
      SCOPED_TRACE(std::string(structure) + (long_first ? ", long first" : ", short first"));
      Classifier classifier = small_classifier(
          {.model = "attention: {structure: '" + std::string(structure) + "'}", .columns = {first, second}});
      const std::vector<std::string> texts{long_first ? kLongText : "the film was",
                                           long_first ? "the film was" : kLongText};
      const std::vector<size_t> words{whitespace_words(texts[0]).size(), whitespace_words(texts[1]).size()};
      int64_t across = 0;
      for (const auto& one : text_weights(classifier, texts)) {
        const size_t own = one.column == first ? 0 : 1;
        EXPECT_EQ(one.words.size(), words[own]);
        if (one.weights.size() == 1) continue;
        EXPECT_EQ(one.weights.size(), one.self ? words[own] : words[1 - own]) << one.step;
        expect_rows_of_one(one);
        if (!one.self) ++across;
      }
      EXPECT_GE(across, 1);
    }
}

TEST(TextWeights, OfATextWithoutWordsAreEmpty) {
  Classifier classifier = small_classifier({});
  for (const auto& one : text_weights(classifier, {""})) EXPECT_TRUE(one.words.empty());
  EXPECT_TRUE(word_weights(text_weights(classifier, {""}), "text").empty());
  Classifier document = small_classifier({.model = "attention: {structure: hierarchical}", .sentences = "rule"});
  EXPECT_TRUE(word_weights(text_weights(document, {""}), "text").empty());
}

TEST(TextWeights, AreNoneWithoutAttention) {
  Classifier classifier = small_classifier({.model = "attention: mean"});
  EXPECT_TRUE(text_weights(classifier, {"the film"}).empty());
}

}  // namespace
}  // namespace heed::testing
