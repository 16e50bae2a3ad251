#include "heed/train/run_name.h"

#include <gtest/gtest.h>

#include "heed/data/recipe.h"
#include "heed/train/train_options.h"

namespace heed {
namespace {

constexpr const char* kRecipe = "name: toy\nmodel: {attention: additive + softmax}\ntrain: {lr: 1, seed: 1}\n";

std::string changes(const std::vector<std::string>& overrides) {
  return name_of_changes(parse_recipe(kRecipe, "toy.yaml", overrides));
}

TEST(RunName, SaysWhatTheCommandLineChanged) {
  EXPECT_EQ(changes({}), "");
  EXPECT_EQ(changes({"model.attention=general + softmax"}), "-attention=general+softmax");
  EXPECT_EQ(changes({"model.attention=fixed", "train.seed=2"}), "-attention=fixed,seed=2");
  EXPECT_EQ(changes({"model.attention.align=sparsemax"}), "-attention.align=sparsemax");
  EXPECT_EQ(changes({"eval.beam=1", "data.train=[a.en,a.de]"}), "-data.train=a.en_a.de,eval.beam=1");
  EXPECT_EQ(changes({"train.seed=null"}), "-seed=null");
  EXPECT_EQ(changes({"model.features={kind: recurrent, dim: 8}"}), "-features.dim=8,features.kind=recurrent");
}

TEST(RunName, DoesNotDependOnTheOrderOfChanges) {
  EXPECT_EQ(changes({"train.seed=2", "train.lr=3"}), changes({"train.lr=3", "train.seed=2"}));
}

TEST(RunName, LeavesOutKeysThatOnlyLocateARun) {
  EXPECT_EQ(changes({"data.root=/data/multi30k", "train.device=cpu", "run.dir=x"}), "");
  EXPECT_EQ(changes({"name=other", "train.seed=2"}), "");  // the user named it
}

TEST(RunName, NeedsNoQuotesInAShell) {
  EXPECT_EQ(changes({"model.attention=general + entmax(1.5)"}), "-attention=general+entmax_1.5");
  EXPECT_EQ(changes({"train.schedule=cosine(warmup_steps=60)"}), "-schedule=cosine_warmup_steps=60");
  const auto hostile = changes({"data.train=$(rm -rf *); a/b 'c' \"d\""});
  EXPECT_EQ(hostile.find_first_not_of("-abcdefghijklmnopqrstuvwxyz0123456789._+=,"), std::string::npos) << hostile;
}

TEST(RunName, IsShortAndUnique) {
  const std::string many(200, 'a');
  const auto one = changes({"data.train=" + many + "1"}), other = changes({"data.train=" + many + "2"});
  EXPECT_LE(one.size(), 64U);
  EXPECT_NE(one, other);
  EXPECT_EQ(one, changes({"data.train=" + many + "1"}));
  EXPECT_NE(changes({"data.train=猫"}), changes({"data.train=狗"}));
}

TEST(RunName, IsTheFolderUnlessOneIsGiven) {
  const auto folder = [](const std::vector<std::string>& overrides) {
    return read_train_options(parse_recipe(kRecipe, "toy.yaml", overrides)).folder;
  };
  EXPECT_EQ(folder({}), "runs/toy");
  EXPECT_EQ(folder({"train.seed=2"}), "runs/toy-seed=2");
  EXPECT_EQ(folder({"train.seed=2", "run.dir=x"}), "x");
  EXPECT_EQ(folder({"train.seed=2", "name=x"}), "runs/x");
}

// recipe.yaml of the run contains the folder, so a resumed run finds it whatever its overrides are.
TEST(RunName, IsWrittenIntoTheRecipeOfTheRun) {
  const Settings recipe = parse_recipe(kRecipe, "toy.yaml", {"train.seed=2"});
  read_train_options(recipe);
  const std::string yaml = recipe_yaml(recipe.resolved());
  EXPECT_EQ(read_train_options(parse_recipe(yaml, "recipe.yaml", {"train.lr=2"})).folder, "runs/toy-seed=2");
}

}  // namespace
}  // namespace heed
