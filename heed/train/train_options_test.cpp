#include "heed/train/train_options.h"

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/data/recipe.h"

namespace heed {
namespace {

std::string refusal_of(const std::vector<std::string>& overrides) {
  try {
    read_train_options(parse_recipe("train: {lr: 1}", "toy.yaml", overrides));
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(TrainOptions, PutARunBelowRunsUnderItsName) {
  EXPECT_EQ(read_train_options(parse_recipe("name: toy", "toy.yaml")).folder, "runs/toy");
  EXPECT_EQ(read_train_options(parse_recipe("run: {dir: ../x}", "toy.yaml")).folder, "../x");  // set explicitly
}

TEST(TrainOptions, RefuseANameThatLeadsOutOfRuns) {
  EXPECT_EQ(refusal_of({"name=../x"}),
            "recipe: name is '../x', expected a name without /; run.dir names another folder [command line]");
  for (const char* name : {"..", ".", "/tmp/x", "a/b", "''"})
    EXPECT_NE(refusal_of({std::string("name=") + name}).find("expected a name without /"), std::string::npos) << name;
  EXPECT_EQ(refusal_of({"name=exp #2"}), "no error");
}

TEST(TrainOptions, RefuseARateThatIsTooLargeForFloats) {
  EXPECT_EQ(refusal_of({"train.lr=1e300"}), "recipe: train.lr is 1e300, expected 0 < lr <= 1000 [command line]");
  EXPECT_NE(refusal_of({"train.optimizer=adam(epsilon=1e300)"}).find("expected 0 < epsilon <= 1"), std::string::npos);
}

// max_steps is known before any data is read, so the schedule is refused then.
TEST(TrainOptions, RefuseAScheduleThatDoesNotFitTheSteps) {
  EXPECT_EQ(refusal_of({"train.schedule=cosine(500)", "train.max_steps=100"}),
            "recipe: train.schedule is 'cosine(500)' for 100 steps: schedule/cosine: total is 100, expected more than "
            "warmup_steps = 500; lower warmup_steps, or train for more steps [command line]");
  EXPECT_EQ(refusal_of({"train.schedule=cosine(500)", "train.max_steps=501"}), "no error");
  EXPECT_EQ(refusal_of({"train.schedule=cosine(500)"}),
            "no error");  // the number of steps of an epoch is not known yet
}

TEST(TrainOptions, TruncateLongSpecsInMessages) {
  EXPECT_LT(refusal_of({"train.schedule=cosine(" + std::string(10'000, 'x') + ")"}).size(), 600U);
}

}  // namespace
}  // namespace heed
