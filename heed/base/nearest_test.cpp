#include "heed/base/nearest.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Distance, CountsLettersToInsertDropReplaceAndSwap) {
  EXPECT_EQ(distance("", ""), 0U);
  EXPECT_EQ(distance("dot", "dot"), 0U);
  EXPECT_EQ(distance("dot", ""), 3U);
  EXPECT_EQ(distance("dot", "doti"), 1U);
  EXPECT_EQ(distance("dot", "do"), 1U);
  EXPECT_EQ(distance("dot", "dat"), 1U);
  EXPECT_EQ(distance("dot", "dto"), 1U);
  EXPECT_EQ(distance("kitten", "sitting"), 3U);
}

TEST(Nearest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> known{"softmax", "sparsemax", "entmax"};
  EXPECT_EQ(nearest("sofmax", known), "softmax");
  EXPECT_EQ(nearest("sprasemax", known), "sparsemax");
  EXPECT_EQ(nearest("entmax", known), "entmax");
}

// More than a third of the letters differ, or there are no known words.
TEST(Nearest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("local", {"softmax", "entmax"}), "");
  EXPECT_EQ(nearest("softmax", {}), "");
  EXPECT_EQ(nearest("", {"softmax"}), "");
}

TEST(Suggestion, IsASentenceOrNothing) {
  EXPECT_EQ(suggestion("aditive", {"additive", "dot"}), " (did you mean 'additive'?)");
  EXPECT_EQ(suggestion("xyz", {"additive", "dot"}), "");
}

}  // namespace
}  // namespace heed
