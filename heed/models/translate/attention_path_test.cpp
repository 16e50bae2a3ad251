#include "heed/models/translate/attention_path.h"

#include "heed/attention/testing.h"
#include "heed/data/recipe.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

std::string path_of(const std::string& model) {
  const Settings recipe = parse_recipe("model: " + model, "small");
  TranslationModel made(recipe.at("model"), {8, 8, false});
  made.train();
  const std::string text = described_paths(made, collate({{{4, 5, 6}}, {{4, 5}}}, {0}));
  EXPECT_TRUE(made.is_training());
  return text;
}

std::string recurrent_with(const std::string& attention) {
  return path_of("{embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}, attention: " + attention + "}");
}

TEST(AttentionPath, NamesTheKernel) {
  EXPECT_TRUE(says(recurrent_with("additive + softmax"), {"attention: fused, kernel ", "additive x softmax"}));
}

TEST(AttentionPath, SaysWhyThereIsNone) {
  EXPECT_TRUE(
      says(recurrent_with("additive + reinforced"),
           {"attention: composed of torch operations, slower than a kernel: no kernel for additive + reinforced"}));
}

TEST(AttentionPath, SaysThatAFixedContextHasNone) {
  EXPECT_EQ(recurrent_with("fixed"), "attention: none, one context for all words");
}

TEST(AttentionPath, TellsUsersOfDifferentPathsApart) {
  const auto transformer = [](const std::string& attention) {
    return path_of(
        "{embedding: {dim: 8}, query: {kind: transformer, num_layers: 2, num_heads: 2}, features: {kind: transformer, "
        "num_layers: 1, num_heads: 2}, attention: " +
        attention + "}");
  };
  const std::string same = transformer("scaled_dot + softmax"), other = transformer("scaled_dot + reinforced");
  EXPECT_TRUE(says(same, {"attention: fused, kernel "}));
  EXPECT_EQ(same.find(';'), std::string::npos) << same;
  EXPECT_TRUE(says(other, {"attention: encoder and decoder: fused, kernel ", "; cross-attention: composed"}));
}

}  // namespace
}  // namespace heed::testing
