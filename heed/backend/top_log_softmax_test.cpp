#include "heed/backend/top_log_softmax.h"

#include <cmath>

#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

class TopLogSoftmax : public ::testing::TestWithParam<std::tuple<int64_t, int64_t>> {};

// Columns below, at and above whole blocks; few blocks and many.
INSTANTIATE_TEST_SUITE_P(Sizes, TopLogSoftmax,
                         ::testing::Combine(::testing::Values(9, 128, 1023, 1024, 1025, 4096, 9701),
                                            ::testing::Values(1, 2, 6)));

TEST_P(TopLogSoftmax, IsThatOfTopk) {
  const auto [columns, count] = GetParam();
  at::manual_seed(1);
  const auto logits = at::randn({7, columns});
  const auto [best, which] = top_log_softmax(logits, count);
  const auto [expected, expected_at] = logits.log_softmax(1).topk(count, 1);
  EXPECT_TRUE(best.equal(expected));
  EXPECT_TRUE(which.equal(expected_at));
}

TEST_P(TopLogSoftmax, ExcludesColumnsButNotFromTheSum) {
  const auto [columns, count] = GetParam();
  at::manual_seed(2);
  auto logits = at::randn({5, columns});
  logits.select(1, 0).fill_(9);
  logits.select(1, 2).fill_(8);
  const auto [best, which] = top_log_softmax(logits, count, {0, 2});
  EXPECT_FALSE(which.eq(0).any().item<bool>() || which.eq(2).any().item<bool>());
  EXPECT_LT(best.max().item<float>(), -1);  // most of the probability is excluded
}

TEST_P(TopLogSoftmax, IsFoundInAnyColumn) {
  const auto [columns, count] = GetParam();
  auto logits = at::full({columns, columns}, -5.0);
  logits.diagonal().fill_(-1);
  const auto which = top_log_softmax(logits, count).second;
  EXPECT_TRUE(which.select(1, 0).equal(at::arange(columns)));
}

TEST_P(TopLogSoftmax, ContainsNaN) {
  const auto [columns, count] = GetParam();
  for (const int64_t at : {int64_t{0}, columns / 2, columns - 1}) {
    auto logits = at::randn({3, columns});
    logits[1][at] = std::nan("");
    const auto best = top_log_softmax(logits, count).first;
    EXPECT_TRUE(std::isnan(best[1][0].item<double>()));
    EXPECT_FALSE(best[0].isnan().any().item<bool>());
  }
}

TEST_P(TopLogSoftmax, IsTheSameOnAGpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  const auto [columns, count] = GetParam();
  at::manual_seed(3);
  auto logits = at::randn({33, columns});
  logits[4].fill_(0.5);  // ties
  logits[5][columns / 2] = -INFINITY;
  logits[6][columns - 1] = std::nan("");
  const auto [expected, expected_at] = top_log_softmax_by_torch(logits, count, {0, 2});
  const auto [best, which] = top_log_softmax(logits.to(at::kCUDA), count, {0, 2});
  for (const int64_t row : {0, 1, 2, 3, 5, 7, 32}) {
    EXPECT_TRUE(at::allclose(best[row].cpu(), expected[row], 1e-5, 1e-5)) << row;
    EXPECT_TRUE(which[row].cpu().equal(expected_at[row])) << row;
  }
  EXPECT_TRUE(std::isnan(best[6][0].item<float>()));
  EXPECT_EQ(std::get<0>(at::_unique(which[4].cpu())).numel(), count) << "ties are different columns";
}

}  // namespace
}  // namespace heed::testing
