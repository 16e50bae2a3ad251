#include "apps/cli/explain/variants.h"

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "heed/base/path.h"
#include "heed/data/testing.h"

namespace heed::cli {
namespace {

using testing::says;

/// In place of heed: notes its arguments, and finishes the run, unless an override says train.seed=13.
constexpr const char* kProgram = R"(#!/bin/sh
echo "$PWD: $*" >> "$(dirname "$0")/calls"
for word in "$@"; do
  case "$word" in
    run.dir=*) folder="${word#run.dir=}" ;;
    train.seed=13) echo 'heed: recipe: train.seed is unlucky'; exit 1 ;;
  esac
done
mkdir -p "$folder"
echo "weights of $*" > "$folder/model.safetensors"
echo '{"train_seconds": 1}' > "$folder/results.json"
)";

class Variants : public testing::FolderTest {
 protected:
  Variants() {
    folder_ = without_links(folder_);
    write("heed", kProgram);
    ::chmod(path("heed").c_str(), 0700);
    make_folders(path("project/runs/sst"));
    write("project/runs/sst/recipe.yaml",
          "data: {root: data, train: [a.tsv]}\nrun: {dir: runs/sst}\ntrain: {seed: 1}\n");
    write("project/runs/sst/results.json", R"({"run": "runs/sst"})");
    write("project/runs/sst/model.safetensors", "weights");
  }

  std::string run() const { return path("project/runs/sst"); }
  std::string variant(const std::string& name) const { return run() + "/explain/" + name; }
  VariantOutcome train(const std::map<std::string, std::vector<std::string>>& variants, bool retry = false) {
    written_.clear();
    GridProgress progress({.write = [this](const std::string& text) { written_ += text; },
                           .columns = [] { return 0; },
                           .clock = [] { return 0.0; }});
    return train_variants({.run = run(), .variants = variants, .program = path("heed"), .jobs = 1, .retry = retry},
                          progress);
  }
  /// What was called since the last call of this function.
  std::string calls() const {
    const std::string all = exists(path("calls")) ? read_file(path("calls")) : "";
    ::unlink(path("calls").c_str());
    return all;
  }

  std::string written_;
};

TEST_F(Variants, AreTrainedOnce) {
  const auto outcome = train({{"seed_2", {"train.seed=2"}}});
  EXPECT_EQ(outcome.folders.at("seed_2"), variant("seed_2"));
  EXPECT_TRUE(
      says(calls(), {"--threads 1 train --quiet " + run() + "/recipe.yaml train.seed=2 run.dir=" + variant("seed_2")}));
  EXPECT_EQ(train({{"seed_2", {"train.seed=2"}}}).folders.size(), 1U);
  EXPECT_EQ(calls(), "");
}

TEST_F(Variants, OfAnotherRecipeAreTrainedAnew) {
  train({{"seed_2", {"train.seed=2"}}, {"of_run", {"train.guide.run=" + run()}}});
  calls();
  write("project/runs/sst/model.safetensors", "other weights");  // of which of_run alone depends
  train({{"seed_2", {"train.seed=2"}}, {"of_run", {"train.guide.run=" + run()}}});
  std::string again = calls();
  EXPECT_EQ(again.find("train.seed=2"), std::string::npos) << again;
  EXPECT_TRUE(says(again, {"train.guide.run="}));
  EXPECT_TRUE(says(written_, {"of_run was of another recipe or model, and is trained anew"}));
  write("project/runs/sst/recipe.yaml", "data: {root: elsewhere, train: [a.tsv]}\nrun: {dir: x}\ntrain: {seed: 1}\n");
  train({{"seed_2", {"train.seed=2"}}});
  EXPECT_EQ(calls(), "");  // where its data is and what it is called are not the recipe
  write("project/runs/sst/recipe.yaml", "data: {root: elsewhere, train: [a.tsv]}\ntrain: {seed: 1, lr: 0.1}\n");
  train({{"seed_2", {"train.seed=2"}}});
  EXPECT_TRUE(says(calls(), {"train.seed=2"}));
}

TEST_F(Variants, OfARunThatMovedAreKept) {
  train({{"of_run", {"train.guide.run=" + run()}}});
  calls();
  std::filesystem::rename(path("project"), path("moved"));
  GridProgress progress({.write = [](const std::string&) {}, .columns = [] { return 0; }, .clock = [] { return 0.0; }});
  const std::string moved = path("moved/runs/sst");
  train_variants({.run = moved, .variants = {{"of_run", {"train.guide.run=" + moved}}}, .program = path("heed")},
                 progress);
  EXPECT_EQ(calls(), "");
}

TEST_F(Variants, AreTrainedAfterThoseThatTheyNeed) {
  const auto outcome = train({{"a_guided", {"train.guide.run=" + variant("z_0.5")}},
                              {"b_guided", {"model={guide: {run: " + variant("z_0") + "}}"}},
                              {"z_0", {"train.lambda=0"}},
                              {"z_0.5", {"train.lambda=0.5"}}});
  EXPECT_EQ(outcome.folders.size(), 4U);
  const std::string all = calls();
  EXPECT_LT(all.find("train.lambda=0.5"), all.find("train.guide.run"));
  EXPECT_LT(all.find("train.lambda=0 "), all.find("model={guide"));
}

TEST_F(Variants, SayWhyTheyAreNotTrained) {
  const auto outcome = train({{"seed_13", {"train.seed=13"}}, {"guided", {"train.guide.run=" + variant("seed_13")}}});
  EXPECT_EQ(outcome.failures.at("seed_13"), "recipe: train.seed is unlucky");
  EXPECT_EQ(outcome.failures.at("guided"),
            "the model seed_13, which it is trained from, could not be trained: recipe: train.seed is unlucky");
  EXPECT_EQ(outcome.signal, 0);
  calls();
  EXPECT_EQ(train({{"seed_13", {"train.seed=13"}}}).failures.size(), 1U);
  EXPECT_EQ(calls(), "");
  train({{"seed_13", {"train.seed=13"}}}, /*retry=*/true);
  EXPECT_TRUE(says(calls(), {"train.seed=13"}));
}

TEST_F(Variants, NeverReplaceAFolderOfSomebodyElse) {
  make_folders(variant("seed_2"));
  write("project/runs/sst/explain/seed_2/notes.txt", "mine");
  EXPECT_TRUE(says(testing::error_of([&] {
                     train({{"seed_2", {"train.seed=2"}}});
                   }),
                   {"seed_2 without ", "rename it"}));
  EXPECT_TRUE(exists(variant("seed_2") + "/notes.txt"));
}

TEST_F(Variants, WorkWhereTheRunWasTrained) {
  EXPECT_EQ(training_folder_of(run()), path("project"));
  GridProgress progress({.write = [](const std::string&) {}, .columns = [] { return 0; }, .clock = [] { return 0.0; }});
  train_variants({.run = run(),
                  .variants = {{"seed_2", {"train.seed=2"}}},
                  .overrides = {"data.root=/data"},
                  .working_folder = training_folder_of(run()),
                  .program = path("heed")},
                 progress);
  EXPECT_TRUE(says(calls(), {path("project") + ": ", "train.seed=2 data.root=/data run.dir="}));
  write("project/runs/sst/results.json", R"({"run": "runs/other"})");
  EXPECT_EQ(training_folder_of(run()), "");
}

TEST_F(Variants, FindTheDataOfARunFromAnyFolder) {
  EXPECT_TRUE(root_override(run(), {}).empty());
  make_folders(path("project/data"));
  write("project/data/a.tsv", "text");
  EXPECT_EQ(root_override(run(), {}), std::vector<std::string>{"data.root=" + path("project/data")});
  EXPECT_TRUE(root_override(run(), {"data.root=/data"}).empty());
}

}  // namespace
}  // namespace heed::cli
