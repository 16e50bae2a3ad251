#include "heed/train/last_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/data/file.h"
#include "heed/train/run/run_folder.h"
#include "heed/train/run/testing_folder.h"

namespace heed::testing {
namespace {

using Steps = std::vector<int64_t>;

at::Tensor weights(double a, double b) {
  return at::tensor({a, b}, at::kFloat);
}

TEST(LastWeights, AreTheMeanOfTheLast) {
  const Folder folder;
  const LastWeights last(folder.path(""), 2);
  EXPECT_FALSE(last.mean(weights(0, 0)).defined());
  last.add(9, weights(1, 2));
  EXPECT_TRUE(last.mean(weights(0, 0)).equal(weights(1, 2)));
  last.add(10, weights(3, 4));  // after 9, though "10" sorts before "9"
  last.add(100, weights(5, 8));
  EXPECT_EQ(last.steps(), (Steps{10, 100}));
  EXPECT_TRUE(last.mean(weights(0, 0)).equal(weights(4, 6)));
}

TEST(LastWeights, OfAStepThatIsRepeatedAreReplaced) {
  const Folder folder;
  const LastWeights last(folder.path(""), 3);
  last.add(1, weights(1, 1));
  last.add(2, weights(7, 7));
  last.add(2, weights(3, 5));
  EXPECT_TRUE(last.mean(weights(0, 0)).equal(weights(2, 3)));
}

TEST(LastWeights, AfterTheStepOfACheckpointAreForgotten) {
  const Folder folder;
  const LastWeights last(folder.path(""), 3);
  for (const int64_t step : {1, 2, 3}) last.add(step, weights(static_cast<double>(step), 0));
  last.forget_after(2);
  EXPECT_EQ(last.steps(), (Steps{1, 2}));
}

TEST(LastWeights, AreNotWrittenWithoutACount) {
  const Folder folder;
  const LastWeights last(folder.path(""), 0);
  last.add(1, weights(1, 2));
  EXPECT_TRUE(last.steps().empty());
  EXPECT_FALSE(last.mean(weights(0, 0)).defined());
}

TEST(LastWeights, ThatAreDamagedAreRefused) {
  const Folder folder;
  const LastWeights last(folder.path(""), 2);
  last.add(1, weights(1, 2));
  EXPECT_THROW(last.mean(at::zeros({3})), Error);
  std::string bytes = read_file(folder.path("last.1.safetensors"));
  bytes.back() ^= 1;
  write_atomically(folder.path("last.1.safetensors"), bytes);
  EXPECT_THROW(last.mean(weights(0, 0)), Error);
}

TEST(LastWeights, AreFilesOfARun) {
  EXPECT_TRUE(RunFolder::is_run_file("last.12.safetensors"));
  EXPECT_TRUE(RunFolder::is_run_file("last.12.safetensors.4711.0.part"));
  for (const char* name : {"last.safetensors", "last..safetensors", "last.x.safetensors", "last.1.safetensor"})
    EXPECT_FALSE(RunFolder::is_run_file(name)) << name;
}

}  // namespace
}  // namespace heed::testing
