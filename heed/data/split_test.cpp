#include "heed/data/split.h"

#include "heed/data/recipe.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

Split split_of(const std::string& split) {
  return read_split(parse_recipe("data: {split: " + split + "}", "test").at("data"));
}

std::string refusal(const std::string& split) {
  return error_of([&] { split_of(split); });
}

TEST(Split, LeavesToTrainingWhatNeitherDevNorTestTakes) {
  const Split split = split_of("{modulo: 5, dev: [1, 4], test: 3}");
  EXPECT_EQ(split.train(), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(split.test, (std::vector<int64_t>{3}));
  EXPECT_EQ(split_of("{}").modulo, 0);
}

TEST(Split, IsRefusedWithResiduesThatDoNotExistOrAreTakenTwice) {
  EXPECT_EQ(refusal("{modulo: 5, dev: 5}"),
            "recipe: data.split.dev has '5', expected whole numbers from 0 to 4 (data.split.modulo - 1) [test:1]");
  EXPECT_TRUE(says(refusal("{modulo: 5, dev: [1x]}"), {"data.split.dev has '1x'"}));
  EXPECT_TRUE(says(refusal("{modulo: 5}"), {"data.split.dev is missing"}));
  EXPECT_TRUE(says(refusal("{modulo: 5, dev: [1, 2], test: 2}"), {"data.split.test has 2, which data.split.dev has"}));
}

}  // namespace
}  // namespace heed::testing
