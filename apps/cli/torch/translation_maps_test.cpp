#include "apps/cli/torch/translation_maps.h"

#include "heed/data/recipe.h"
#include "heed/data/testing.h"

namespace heed::cli {
namespace {

using Words = std::vector<std::string>;
using testing::error_of;
using testing::says;

/// An untrained translator.
Translator small_translator(const std::string& attention = "additive + softmax") {
  Languages languages;
  languages.source = train_tokenizer("words", {"Tom chases Jerry"});
  languages.target = train_tokenizer("words", {"汤姆 追逐 杰瑞"});
  const Settings recipe = parse_recipe(
      "model: {embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}, attention: " + attention + "}", "small");
  auto model = std::make_shared<TranslationModel>(recipe.at("model"), languages.vocabularies());
  model->eval();
  return {std::move(model), std::move(languages)};
}

HeatMap heat_map(Translator& translator, const std::string& source, const std::string& target) {
  return heat_map_of(attention_maps(translator, {source}, {target}).front(), translator.model(), AttentionKind::cross);
}

TEST(TranslationMaps, HaveTheEndMarkerAsTheLastColumn) {
  Translator translator = small_translator();
  const HeatMap map = heat_map(translator, "Foo Tom chases </s>", "汤姆 龍 追逐");
  EXPECT_EQ(map.title, "Foo Tom chases </s>");
  EXPECT_EQ(map.columns, (Words{"Foo", "Tom", "chases", "</s>", "</s>"}));
  EXPECT_EQ(map.rows, (Words{"汤姆", "龍", "追逐"}));
  check_heat_map(map);
  for (const auto& row : map.weights) {
    double sum = 0;
    for (const double weight : row) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(TranslationMaps, AreEmptyWithoutWords) {
  Translator translator = small_translator();
  for (const char* source : {"", "Tom"}) {
    const HeatMap map = heat_map(translator, source, "");
    check_heat_map(map);
    EXPECT_TRUE(map.rows.empty());
  }
}

TEST(TranslationMaps, RemarkThatThereIsNoAttention) {
  Translator fixed = small_translator("fixed"), mean = small_translator("mean");
  const HeatMap drawn = heat_map(fixed, "Tom chases Jerry", "汤姆"), equal = heat_map(mean, "Tom chases Jerry", "汤姆");
  EXPECT_TRUE(
      says(titled(drawn), {"Tom chases Jerry (no attention: one context for all words; the equal weights are"}));
  EXPECT_TRUE(says(titled(equal), {"Tom chases Jerry (no attention: every source token has the same weight)"}));
  for (const auto& map : {drawn, equal})
    for (const double weight : map.weights.front()) EXPECT_NEAR(weight, 0.25, 1e-6);
}

TEST(TranslationMaps, SayWhichLayerAndHeadTheyShow) {
  AttentionMap map{.source_words = {"a"}, .layer = 2, .layers = 6, .head = 3, .heads = 8};
  EXPECT_EQ(described(map, AttentionKind::cross), "cross-attention, layer 2 of 6, head 3 of 8");
  map.head = 0;
  EXPECT_EQ(described(map, AttentionKind::encoder), "self-attention of the encoder, layer 2 of 6, mean of 8 heads");
  map.layers = map.heads = 1;
  EXPECT_EQ(described(map, AttentionKind::decoder), "self-attention of the decoder");
}

TEST(TranslationMaps, KeepTheRowsOfTheChosenSteps) {
  const AttentionMap map{.rows = {"a", "b", "c"}, .columns = {"x"}, .weights = {{0.1}, {0.2}, {0.3}}};
  EXPECT_EQ(with_steps(map, {}).rows, map.rows);
  EXPECT_EQ(with_steps(map, parse_steps("2")).rows, Words{"b"});
  const AttentionMap some = with_steps(map, parse_steps("2-3"));
  EXPECT_EQ(some.rows, (Words{"b", "c"}));
  EXPECT_EQ(some.weights, (WeightRows{{0.2}, {0.3}}));
  EXPECT_TRUE(says(error_of([&] { with_steps(map, parse_steps("4")); }), {"got step 4, expected 1 to 3 for 'a b c'"}));
  EXPECT_TRUE(says(error_of([&] { with_steps(map, parse_steps("2-9")); }), {"got step 9, expected 1 to 3"}));
  for (const char* wrong : {"0", "x", "-1", "3-2", "1-", "1-x", "", "99999999999999999999"})
    EXPECT_TRUE(says(error_of([&] { parse_steps(wrong); }), {"--step: got '", "expected a number from 1 on"})) << wrong;
}

}  // namespace
}  // namespace heed::cli
