#include "heed/base/shuffle.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

namespace heed {
namespace {

// The first numbers of the authors' own generator for seed 1234567.
TEST(SplitMix, GivesThePublishedNumbers) {
  SplitMix random(1234567);
  for (const uint64_t expected : {6457827717110365317U, 3203168211198807973U, 9817491932198370423U,
                                  4593380528125082431U, 16408922859458223821U}) {
    EXPECT_EQ(random(), expected);
  }
}

TEST(SplitMix, StaysBelowItsLimitAndReachesAllOfIt) {
  SplitMix random(1);
  std::vector<int> seen(7);
  for (int i = 0; i < 7000; ++i) ++seen.at(random.below(7));
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);  // five standard deviations
}

TEST(Shuffle, KeepsEveryItemAndDependsOnTheSeedAlone) {
  const auto shuffled = [](uint64_t seed) {
    std::vector<int> items = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    SplitMix random(seed);
    shuffle(items, random);
    return items;
  };
  EXPECT_EQ(shuffled(3), shuffled(3));
  EXPECT_NE(shuffled(3), shuffled(4));
  auto sorted = shuffled(3);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Shuffle, GivesEveryOrderEquallyOften) {
  std::map<std::vector<int>, int> seen;
  SplitMix random(5);
  for (int i = 0; i < 6000; ++i) {
    std::vector<int> items = {0, 1, 2};
    shuffle(items, random);
    ++seen[items];
  }
  EXPECT_EQ(seen.size(), 6U);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace heed
