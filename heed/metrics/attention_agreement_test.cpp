#include "heed/metrics/attention_agreement.h"

#include <cmath>

#include <gtest/gtest.h>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

TEST(MapAgreement, HasTheGoldenDivergences) {
  const MapAgreement found = map_agreement({0.7, 0.2, 0.1}, {0.1, 0.2, 0.7});
  EXPECT_NEAR(found.tvd.value(), 0.6, 1e-15);
  EXPECT_NEAR(found.jsd.value(), 0.25310162, 5e-9);
}

TEST(MapAgreement, IsPerfectForEqualMapsAndNoneForMapsWithoutACommonKey) {
  const MapAgreement equal = map_agreement({1, 2, 3}, {2, 4, 6}, 2);
  EXPECT_NEAR(equal.jsd.value(), 0, 1e-15);
  EXPECT_NEAR(equal.tvd.value(), 0, 1e-15);
  EXPECT_NEAR(equal.spearman.value(), 1, 1e-15);
  EXPECT_EQ(equal.top_overlap, 1);
  const MapAgreement apart = map_agreement({1, 2, 0, 0}, {0, 0, 3, 1}, 2);
  EXPECT_NEAR(apart.jsd.value(), std::log(2), 1e-15);
  EXPECT_EQ(apart.tvd, 1);
  EXPECT_EQ(apart.top_overlap, 0);
}

// Equal weights are each among the two largest of four by half.
TEST(MapAgreement, OfEqualWeightsOverlapsAsRandomKeysDo) {
  const MapAgreement found = map_agreement({1, 1, 1, 1}, {4, 3, 2, 1}, 2);
  EXPECT_EQ(found.top_overlap, 0.5);
  EXPECT_EQ(found.spearman, std::nullopt);
  EXPECT_EQ(map_agreement({1, 1, 1}, {1, 1, 1}, 2).top_overlap, 1);
}

TEST(MapAgreement, LeavesUndefinedWhatHasNoValue) {
  const MapAgreement masked = map_agreement({0, 0, 0}, {1, 2, 3}, 3);
  EXPECT_EQ(masked.jsd, std::nullopt);
  EXPECT_EQ(masked.tvd, std::nullopt);
  EXPECT_EQ(masked.top_overlap, std::nullopt);  // all three keys are among the three largest
  EXPECT_EQ(map_agreement({}, {}).jsd, std::nullopt);
  EXPECT_EQ(map_agreement({1}, {1}).spearman, std::nullopt);
  EXPECT_EQ(map_agreement({1}, {1}).jsd, 0);
}

TEST(MapAgreement, RefusesMapsOfOtherKeys) {
  EXPECT_EQ(refusal([] {
              map_agreement({1}, {1, 2});
            }),
            "metrics/attention_agreement: got maps of 1 and 2 keys, expected equal numbers");
}

}  // namespace
}  // namespace heed
