// The identity alignment, with numbers to check in the head.

#include "heed/attention/testing_by_hand.h"

namespace heed::testing {
namespace {

// Weights are the scores, negative ones too, and need not sum to 1.
TEST(IdentityAlignment, IsTheScore) {
  expect_weights("identity", {2, -3, 0.5}, {2, -3, 0.5});
}

// The gradient with respect to a score is its value.
TEST(IdentityAlignment, HasTheValuesAsGradient) {
  expect_gradient("identity", {2, -3}, {5, 7}, {5, 7});
}

// A masked key has weight 0, and the others keep theirs.
TEST(IdentityAlignment, DoesNotNormalizeOverTheKeptKeys) {
  expect_weights("identity", {2, -3, 4}, {2, 0, 4}, keeping({1, 0, 1}));
  expect_weights("identity", {2, -3}, {0, 0}, keeping({0, 0}));
}

// The weights are no distribution: there is no entropy and no lse.
TEST(IdentityAlignment, HasNoEntropy) {
  for (const bool lse : {false, true}) {
    Call call;
    (lse ? call.outputs.lse : call.outputs.entropy) = true;
    EXPECT_THROW(
        attend(sequence({{1}}), sequence({{1}}), sequence({{1}}), Mechanism::parse("dot + identity"), {}, call), Error);
  }
}

}  // namespace
}  // namespace heed::testing
