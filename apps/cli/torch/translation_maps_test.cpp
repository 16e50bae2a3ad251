#include "apps/cli/torch/translation_maps.h"

#include <gtest/gtest.h>

#include "heed/data/recipe.h"

namespace heed::cli {
namespace {

/// Not trained.
Translator small_translator() {
  Languages languages;
  languages.source = train_tokenizer("words", {"Tom chases Jerry"});
  languages.target = train_tokenizer("words", {"汤姆 追逐 杰瑞"});
  const Settings recipe =
      parse_recipe("model: {embedding: {dim: 8}, features: {dim: 8}, query: {state_dim: 8}}", "small");
  auto model = std::make_shared<TranslationModel>(recipe.at("model"), languages.vocabularies());
  model->eval();
  return {std::move(model), std::move(languages)};
}

TEST(TranslationMaps, HaveTheEndMarkerAsTheLastColumn) {
  Translator translator = small_translator();
  const auto maps = translation_maps(translator, {"Foo Tom chases </s>"}, {"汤姆 龍 追逐"}, 1);
  ASSERT_EQ(maps.size(), 1U);
  EXPECT_EQ(maps[0].title, "Foo Tom chases </s>");
  EXPECT_EQ(maps[0].columns, (std::vector<std::string>{"Foo", "Tom", "chases", "</s>", "</s>"}));
  EXPECT_EQ(maps[0].rows, (std::vector<std::string>{"汤姆", "龍", "追逐"}));
  check_heat_map(maps[0]);
  for (const auto& row : maps[0].weights) {
    double sum = 0;
    for (const double weight : row) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(TranslationMaps, AreEmptyWhereThereAreNoWords) {
  Translator translator = small_translator();
  for (const auto& map : translation_maps(translator, {"", "Tom"}, {"", ""}, 1)) {
    check_heat_map(map);
    EXPECT_TRUE(map.rows.empty());
  }
}

}  // namespace
}  // namespace heed::cli
