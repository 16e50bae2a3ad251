#include "heed/models/model_memory.h"

#include <gtest/gtest.h>

#include "heed/data/recipe.h"
#include "heed/models/translate/model.h"

namespace heed {
namespace {

/// The error of building a model of these settings with this much free memory; "no error" if it succeeds.
std::string refusal_of_model(const std::string& model, const char* memory) {
  ::setenv("HEED_MEMORY", memory, 1);
  std::string said = "no error";
  try {
    const Settings settings = parse_recipe("model: " + model, "toy.yaml").at("model");
    within_memory(settings, 4, "weights, gradients and optimizer", [&] {
      return std::make_shared<TranslationModel>(settings, Vocabularies{8, 8, false});
    });
  } catch (const Error& error) {
    said = error.what();
  }
  ::unsetenv("HEED_MEMORY");
  return said;
}

TEST(ModelMemory, RefusesTheLargestSizeOfAModelThatDoesNotFit) {
  // A bidirectional recurrent layer, 32768 wide in total: the first matrix alone has 49152 x 256 floats.
  const std::string message = refusal_of_model("{features: {dim: 32768}}", "100M");
  EXPECT_EQ(message.rfind("recipe: model.features.dim is 32768, so the model would take at least 20", 0), 0U)
      << message;
  EXPECT_NE(message.find(" MB for weights, gradients and optimizer, but 100 MB are free; lower it [toy.yaml:1]"),
            std::string::npos)
      << message;
  EXPECT_EQ(refusal_of_model("{features: {dim: 32}}", "100M"), "no error");
}

TEST(ModelMemory, CountsTheQueryModelToo) {
  EXPECT_EQ(refusal_of_model("{features: {dim: 8}, query: {state_dim: 16384}}", "100M")
                .rfind("recipe: model.query.state_dim is 16384, so the model would take", 0),
            0U);
}

TEST(ModelMemory, NeedsNoLimitBeyondTheWidestLayer) {
  const std::string bound = "expected 1 <= dim <= 65536 [toy.yaml:1]";
  EXPECT_EQ(refusal_of_model("{embedding: {dim: 1048576}}", "1G"), "recipe: model.embedding.dim is 1048576, " + bound);
  EXPECT_EQ(refusal_of_model("{features: {dim: 1048576}}", "1G"), "recipe: model.features.dim is 1048576, " + bound);
  EXPECT_EQ(refusal_of_model("{attention: {structure: multi_hop(hops=1000000)}}", "1G")
                    .find("hops is 1000000, expected 1 to 256") != std::string::npos,
            true);
}

TEST(AttentionSettings, AreAMechanismOrItsPartsButNotBoth) {
  EXPECT_EQ(refusal_of_model("{attention: {mechanism: additive + softmax, score: dot}}", "1G"),
            "recipe: model.attention.score is given together with the mechanism 'additive + softmax', expected one of "
            "the two [toy.yaml:1]");
  EXPECT_EQ(refusal_of_model("{attention: {mechanism: additive + softmax, dropout: 0.1}}", "1G"), "no error");
  EXPECT_EQ(refusal_of_model("{attention: {score: dot, align: softmax}, features: {dim: 512}}", "1G"), "no error");
  const Settings both = parse_recipe("model: {features: {dim: 8}}", "toy.yaml",
                                     {"model.attention={mechanism: additive + softmax, align: sparsemax}"});
  EXPECT_THROW(TranslationModel(both.at("model"), Vocabularies{8, 8, false}), Error);
  // On the command line a part overrides the mechanism of the recipe.
  const Settings changed = parse_recipe("model: {attention: additive + softmax, features: {dim: 8}}", "toy.yaml",
                                        {"model.attention.align=sparsemax"});
  EXPECT_EQ(TranslationModel(changed.at("model"), Vocabularies{8, 8, false}).attention().spec().mechanism,
            "additive + sparsemax");
}

// e = v . tanh(W q + U k): W [5, state], U [5, features].
TEST(AttentionSettings, HiddenIsTheWidthOfTheScoreInRecurrentQueryModels) {
  for (const std::string kind : {"bahdanau", "luong"}) {
    const Settings recipe =
        parse_recipe("model: {embedding: {dim: 8}, features: {dim: 12}, query: {kind: " + kind +
                         ", state_dim: 16}, attention: {mechanism: additive + softmax, hidden_dim: 5}}",
                     "toy.yaml");
    const TranslationModel model(recipe.at("model"), Vocabularies{8, 8, false});
    const auto shape_of = [&](const std::string& name) {
      for (const auto& parameter : model.named_parameters())
        if (parameter.key().find(name) != std::string::npos) return parameter.value().sizes().vec();
      return std::vector<int64_t>{};
    };
    EXPECT_EQ(shape_of("score.from_query"), (std::vector<int64_t>{5, 16})) << kind;
    EXPECT_EQ(shape_of("score.from_keys"), (std::vector<int64_t>{5, 12})) << kind;
  }
}

}  // namespace
}  // namespace heed
