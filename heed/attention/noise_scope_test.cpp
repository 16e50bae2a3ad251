// Random numbers of attention inside a NoiseScope: the same for a batch and its halves, and in a repeated step.

#include "heed/torch_support/noise_scope.h"

#include <gtest/gtest.h>

#include "heed/attention/attention.h"

namespace heed {
namespace {

class ScopedAttention : public ::testing::TestWithParam<std::string> {
 protected:
  ScopedAttention() { at::manual_seed(1); }

  Attention attention_{AttentionOptions{.query_dim = 8,
                                        .key_dim = 8,
                                        .value_dim = 8,
                                        .num_heads = 2,
                                        .mechanism = Mechanism::parse(GetParam()),
                                        .dropout = 0.4}};
  Tensor x_ = at::randn({6, 5, 8});  // [B, L, D]

  Tensor context(uint64_t step, int64_t from, int64_t rows, const Call& call = {}) {
    const NoiseScope scope(11, step, from);
    const auto x = x_.narrow(0, from, rows);
    return attention_->forward(x, x, x, call).context;
  }
};

TEST_P(ScopedAttention, DrawsForHalvesOfABatchWhatItDrawsForTheWhole) {
  const auto whole = context(3, 0, 6);
  EXPECT_TRUE(at::allclose(context(3, 0, 2), whole.narrow(0, 0, 2), 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(context(3, 2, 4), whole.narrow(0, 2, 4), 1e-5, 1e-6));
}

TEST_P(ScopedAttention, DrawsTheSameInTheSameStepAndOtherNumbersInAnother) {
  const auto first = context(3, 0, 6);
  EXPECT_TRUE(first.equal(context(3, 0, 6)));
  EXPECT_FALSE(first.equal(context(4, 0, 6)));
}

TEST_P(ScopedAttention, DrawsAnewInTheNextUse) {
  const NoiseScope scope(11, 3);
  EXPECT_FALSE(attention_->forward(x_, x_, x_).context.equal(attention_->forward(x_, x_, x_).context));
}

TEST_P(ScopedAttention, DrawsThroughAMemoryWhatItDrawsWithoutOne) {
  const auto memory = attention_->prepare(x_, x_);
  const NoiseScope scope(11, 3);
  EXPECT_TRUE(at::allclose(attention_->forward(x_, memory).context, context(3, 0, 6), 1e-5, 1e-6));
}

TEST_P(ScopedAttention, LeavesACallThatNamesItsSeedAlone) {
  Call call;
  call.noise.seed = 5;
  call.noise.stream = 6;
  const auto outside = attention_->forward(x_, x_, x_, call).context;
  EXPECT_TRUE(outside.equal(context(3, 0, 6, call)));
}

TEST_P(ScopedAttention, DrawsFromTorchOutsideAScope) {
  const auto of_seed = [&](uint64_t seed) {
    at::manual_seed(seed);
    return attention_->forward(x_, x_, x_).plan.seed;
  };
  const auto first = of_seed(1);
  EXPECT_EQ(first, of_seed(1));
  EXPECT_NE(first, of_seed(2));
}

INSTANTIATE_TEST_SUITE_P(Noise, ScopedAttention,
                         ::testing::Values("scaled_dot + softmax", "additive + softmax", "dot + hard",
                                           "general + gumbel_softmax", "scaled_dot + reinforced"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace heed
