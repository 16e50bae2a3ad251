#include "apps/cli/demo.h"

#include <sstream>

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/train/run/testing_folder.h"

namespace heed::cli {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::vector<std::string> kTiny{"train.max_steps=4", "train.schedule=constant", "data.grammar.train=200",
                                     "data.grammar.test=20", "data.grammar.dev=10"};

TEST(Demo, ComparesAttentionWithAFixedContextAndDrawsTheWeights) {
  const testing::Folder folder;
  std::ostringstream out;
  EXPECT_EQ(run_demo(out, {.folder = folder.path("demo"), .overrides = kTiny, .quiet = true}), 0);
  for (const char* expected :
       {"additive: BLEU ", " AER ", "fixed: BLEU ", "by the length", "Tom", "Jerry", "index.html"})
    EXPECT_TRUE(has(out.str(), expected)) << expected << " is missing in\n" << out.str();
  EXPECT_TRUE(has(read_file(folder.path("demo") + "/index.html"), "Jerry"));
  for (const char* run : {"/additive", "/fixed"})
    EXPECT_TRUE(exists(folder.path("demo") + run + "/model.safetensors")) << run;
}

TEST(Demo, TakesAnyMechanismAndIsTheSameTwice) {
  const testing::Folder folder;
  const DemoOptions options{
      .mechanism = "general + entmax(1.5)", .folder = folder.path("demo"), .overrides = kTiny, .quiet = true};
  std::ostringstream once, twice;
  run_demo(once, options);
  run_demo(twice, options);
  EXPECT_EQ(once.str(), twice.str());
  EXPECT_TRUE(has(once.str(), "general_entmax: BLEU "));
}

TEST(Demo, RefusesAMisspeltMechanism) {
  std::ostringstream out;
  EXPECT_THROW(run_demo(out, {.mechanism = "aditive + softmax"}), Error);
}

const std::vector<std::string> kTinyReviews{"train.max_steps=4", "train.schedule=constant", "data.reviews.train=100",
                                            "data.reviews.test=20", "data.reviews.dev=10"};

TEST(Demo, ComparesAttentionWithTheMeanAndSaysHowMuchWeightIsOnRelevantWords) {
  const testing::Folder folder;
  const DemoOptions options{
      .task = "classify", .folder = folder.path("demo"), .overrides = kTinyReviews, .quiet = true};
  std::ostringstream once, twice;
  EXPECT_EQ(run_demo(once, options), 0);
  EXPECT_EQ(run_demo(twice, options), 0);
  EXPECT_EQ(once.str(), twice.str());
  for (const char* expected : {"self_attentive: accuracy ", "mean: accuracy ", " of them. They have ", "(labeled "})
    EXPECT_TRUE(has(once.str(), expected)) << expected << " is missing in\n" << once.str();
  for (const char* file : {"/index.html", "/self_attentive/model.safetensors", "/mean/model.safetensors"})
    EXPECT_TRUE(exists(folder.path("demo") + file)) << file;
}

TEST(Demo, HasItsRecipesAmongTheRecipes) {
  const auto same = [](const Settings& settings) { return recipe_yaml(settings); };
  EXPECT_EQ(same(parse_recipe(kDemoRecipe, "demo")), same(read_recipe("recipes/demo.yaml")));
  EXPECT_EQ(same(parse_recipe(kClassifyDemoRecipe, "demo")), same(read_recipe("recipes/demo-classify.yaml")));
}

}  // namespace
}  // namespace heed::cli
