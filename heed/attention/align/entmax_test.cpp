// The entmax alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// alpha = 3/2: a = max(e / 2 - tau, 0)^2. For e = 0, 2/5 and tau = -3/5: (3/5)^2 + (4/5)^2 = 9/25 + 16/25 = 1.
// A third key with e / 2 = -1 is below tau. A constant in all scores changes nothing.
TEST(EntmaxAlignment, IsAPowerOfTheExcess) {
  expect_weights("entmax(1.5)", {0, 0.4}, {0.36, 0.64});
  expect_weights("entmax", {0, 0.4, -2}, {0.36, 0.64, 0});
  expect_weights("entmax(1.5)", {64, 64.4}, {0.36, 0.64});
  expect_weights("entmax(1.2)", {7, 7}, {0.5, 0.5});
}

// alpha = 2 is sparsemax.
TEST(EntmaxAlignment, IsSparsemaxForTwo) {
  expect_weights("entmax(2)", {1, 0.5}, {0.75, 0.25});
  expect_weights("entmax(2)", {1, 0}, {1, 0});
}

// Learned: 1.01 + 0.99 sigmoid(to_alpha) = 3/2 where sigmoid = 49/99, to_alpha = ln(49 / 50).
TEST(EntmaxAlignment, LearnsAlpha) {
  expect_weights("entmax(learned)", {0, 0.4, -2}, {0.36, 0.64, 0}, {}, {{"align.to_alpha", numbers({std::log(0.98)})}});
}

// s = a^(2 - alpha) = 3/5, 4/5; values 0 and 7 have the mean 4 by s: 3/5 (0 - 4) = -12/5, 4/5 (7 - 4) = 12/5.
TEST(EntmaxAlignment, HasTheGradientOfItsSupport) {
  expect_gradient("entmax(1.5)", {0, 0.4, -2}, {0, 7, 100}, {-2.4, 2.4, 0});
}

TEST(EntmaxAlignment, IsOverTheKeptKeys) {
  expect_weights("entmax(1.5)", {0, 9, 0.4}, {0.36, 0, 0.64}, keeping({1, 0, 1}));
  expect_weights("entmax(1.5)", {0, 9}, {0, 0}, keeping({0, 0}));
  expect_weights("entmax(1.5)", {0, 9}, {0, 1});
}

TEST(EntmaxAlignment, RefusesAlphaOutsideOneToTwo) {
  for (const std::string spec : {"dot + entmax(1)", "dot + entmax(2.5)", "dot + entmax(2, learned)"})
    EXPECT_THROW(Mechanism::parse(spec), Error) << spec;
}

}  // namespace
}  // namespace heed::testing
