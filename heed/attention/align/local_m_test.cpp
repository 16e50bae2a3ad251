// The local-m alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

Call at_position(int64_t position) {
  Call call;
  call.mask.first_query = position;
  return call;
}

// Window 1. At position 0: keys 0 and 1, exp 1 and 3. At position 2: keys 1, 2, 3, exp 3, 1, 4.
TEST(LocalMAlignment, IsSoftmaxAroundThePositionOfTheQuery) {
  const std::vector<double> scores{0, std::log(3), 0, std::log(4), 50};
  expect_weights("local_m(1)", scores, {0.25, 0.75, 0, 0, 0}, at_position(0));
  expect_weights("local_m(1)", scores, {0, 0.375, 0.125, 0.5, 0}, at_position(2));
  expect_weights("local_m(0)", scores, {0, 0, 0, 1, 0}, at_position(3));
}

// The default window, 10, holds three keys.
TEST(LocalMAlignment, IsSoftmaxInAWideWindow) {
  expect_weights("local_m", {0, std::log(3), std::log(4)}, {0.125, 0.375, 0.5});
}

// Position 5 of 3 keys: the window is clipped to nothing, not shifted. clamp: its center is the last key.
TEST(LocalMAlignment, HasNoKeysBeyondTheLast) {
  expect_weights("local_m(1)", {50, 0, std::log(3)}, {0, 0, 0}, at_position(5));
  expect_weights("local_m(1, clamp)", {50, 0, std::log(3)}, {0, 0.25, 0.75}, at_position(5));
  auto two = at_position(5);
  two.mask.key_count = at::tensor(std::vector<int64_t>{2});  // clamped to the last of these
  expect_weights("local_m(1, clamp)", {0, std::log(3), 50}, {0.25, 0.75, 0}, two);
}

// Outside the window there is no gradient; inside, a (v - c) = -3/4, 3/4.
TEST(LocalMAlignment, HasAGradientInsideTheWindow) {
  expect_gradient("local_m(1)", {0, std::log(3), 1}, {0, 4, 100}, {-0.75, 0.75, 0});
  EXPECT_THROW(Mechanism::parse("dot + local_m(-1)"), Error);
}

}  // namespace
}  // namespace heed::testing
