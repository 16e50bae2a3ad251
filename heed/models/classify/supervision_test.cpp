// Supervised attention of classifiers: gold weights of tokens, and the distance of words and of documents.

#include "heed/models/classify/supervision.h"

#include <cmath>

#include <gtest/gtest.h>

#include "heed/data/testing.h"
#include "heed/models/classify/testing_classifier.h"
#include "heed/models/classify/text_weights.h"

namespace heed::testing {
namespace {

std::string written(const std::vector<TokenWeight>& all) {
  std::string text;
  for (const TokenWeight& one : all)
    text += std::to_string(one.sentence) + "." + std::to_string(one.token) + ":" +
            std::to_string(static_cast<int>(std::lround(one.weight * 100))) + " ";
  return text;
}

TEST(TokenWeights, SumToOneOverTheTokensThatAreRead) {
  const Classifier words = small_classifier({}), characters = small_classifier({.tokenizer = "characters"}),
                   documents = small_classifier({.model = "attention: {structure: hierarchical}", .sentences = "tab"}),
                   brief = small_classifier({.max_length = 3});
  EXPECT_EQ(written(token_weights({{0, 3, 0, 1}, ""}, "a good bad end", words.reader())), "0.1:75 0.3:25 ");
  EXPECT_EQ(written(token_weights({{1, 0}, ""}, "no a", characters.reader())), "0.0:50 0.1:50 ");
  EXPECT_EQ(written(token_weights({{0, 1, 1}, ""}, "a good\tend", documents.reader())), "0.1:50 1.0:50 ");
  EXPECT_EQ(written(token_weights({{0, 1, 0, 1}, ""}, "a good bad end", brief.reader())), "0.1:100 ");
  EXPECT_EQ(written(token_weights({{0, 0, 0, 1}, ""}, "a good bad end", brief.reader())), "");
  EXPECT_EQ(written(token_weights({{}, ""}, "a good", words.reader())), "");
  EXPECT_EQ(error_of([&] {
              token_weights({{0, 1, 0}, "gold.tsv:4"}, "a good", words.reader());
            }),
            "data/rationales: gold.tsv:4: got 3 weights for a text of 2 words, expected one for each");
}

const std::vector<std::vector<std::string>> kTexts{{"the film was good"}, {"no one liked"}, {"bad end\tgood soup was"}};

// The distance is that of the weights that `heed classify --attend` shows.
TEST(TextSupervision, IsTheDistanceOfTheWeightsOfWords) {
  for (const SmallClassifier& small :
       {SmallClassifier{}, SmallClassifier{.model = "attention: {structure: multi_hop(hops=2)}"},
        SmallClassifier{.model = "attention: {mechanism: 'additive + softmax, multi'}"},
        SmallClassifier{.model = "attention: {structure: self_attentive(features)}"},
        SmallClassifier{.model = "features: {kind: transformer, num_layers: 1, num_heads: 2}, attention: "
                                 "{mechanism: additive + softmax, num_heads: 2}"},
        SmallClassifier{.model = "attention: {preset: yang_2016}", .sentences = "tab"}}) {
    Classifier classifier = small_classifier(small);
    const bool documents = small.sentences != "none";
    const TextSupervision::Gold gold{{{0, 1, 0.5}, {0, 3, 0.5}}, {}, {{documents ? 1 : 0, documents ? 0 : 2, 1}}};
    const std::vector<std::vector<size_t>> marked{{1, 3}, {}, {2}};  // as words
    double entropy = 0, squared = 0;
    for (size_t i = 0; i < kTexts.size(); ++i) {
      const auto weights = word_weights(text_weights(classifier, kTexts[i]), "text");
      for (size_t w = 0; w < weights.size() && !marked[i].empty(); ++w) {
        const bool is = std::find(marked[i].begin(), marked[i].end(), w) != marked[i].end();
        const double wanted = is ? 1.0 / static_cast<double>(marked[i].size()) : 0;
        if (is) entropy -= wanted * std::log(weights[w]);
        squared += (wanted - weights[w]) * (wanted - weights[w]);
      }
    }
    const TextBatch batch = batch_of(classifier, kTexts);
    const Pooled pooled = classifier.model().pool(batch, {}, TextSupervision::outputs());
    for (const auto& [loss, expected] :
         {std::pair{SupervisionLoss::cross_entropy, entropy}, {SupervisionLoss::squared_error, squared}}) {
      const TextSupervision supervision(classifier.model(), {.loss = loss, .weight = 1});
      EXPECT_NEAR(supervision.distance(pooled, batch, gold).item<double>(), expected, 1e-4) << small.model;
      EXPECT_FALSE(supervision.distance(pooled, batch, {{}, {}, {}}).defined());
    }
  }
}

TEST(TextSupervision, RefusesModelsWithoutWeightsOfWords) {
  const auto said = [](const SmallClassifier& small) {
    Classifier classifier = small_classifier(small);
    return error_of([&] { TextSupervision(classifier.model(), {.weight = 1}); });
  };
  EXPECT_NE(said({.model = "attention: mean"}).find("model.attention is mean"), std::string::npos);
  EXPECT_NE(said({.model = "attention: {structure: interactive}", .columns = {"first", "second"}}).find("one text"),
            std::string::npos);
}

}  // namespace
}  // namespace heed::testing
