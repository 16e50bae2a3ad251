#include "apps/cli/torch/relevant_share.h"

#include "heed/data/testing.h"

namespace heed::cli {
namespace {

TEST(RelevantShare, IsTheWeightOfRelevantWordsInAllOfIt) {
  const RelevantShare share = relevant_share({0.1, 0.6, 0.2, 0.1}, {false, true, true, false});
  EXPECT_NEAR(share.weight, 0.8, 1e-12);
  EXPECT_NEAR(share.words, 0.5, 1e-12);
  EXPECT_NEAR(relevant_share({2, 6}, {false, true}).weight, 0.75, 1e-12);  // of a sum other than 1
}

TEST(RelevantShare, IsZeroWithoutWeightsOrWords) {
  EXPECT_EQ(relevant_share({0, 0}, {true, false}).weight, 0);
  EXPECT_EQ(relevant_share({}, {}).words, 0);
}

TEST(RelevantShare, NeedsAWeightForEachWord) {
  EXPECT_TRUE(testing::says(testing::error_of([] {
                              relevant_share({1}, {true, false});
                            }),
                            {"got 1 weights for 2 words, expected one for each"}));
}

}  // namespace
}  // namespace heed::cli
