#include "heed/metrics/perplexity.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Perplexity, IsTheExponentOfTheMeanLoss) {
  EXPECT_NEAR(perplexity(.5 + 1 + 2 + .25, 4), 2.55358946, 5e-9);
  EXPECT_EQ(perplexity(0, 7), 1);
}

TEST(Perplexity, NeedsATokenAtLeast) {
  EXPECT_THROW(perplexity(0, 0), Error);
}

}  // namespace
}  // namespace heed
