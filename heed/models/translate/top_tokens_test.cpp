#include "heed/models/translate/top_tokens.h"

#include <cmath>

#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

class TopTokens : public ::testing::TestWithParam<std::tuple<int64_t, int64_t>> {};

// Columns below, at and above whole blocks; few blocks and many.
INSTANTIATE_TEST_SUITE_P(Sizes, TopTokens,
                         ::testing::Combine(::testing::Values(9, 128, 1023, 1024, 1025, 4096, 9701),
                                            ::testing::Values(1, 2, 6)));

TEST_P(TopTokens, AreThoseOfTopk) {
  const auto [columns, count] = GetParam();
  at::manual_seed(1);
  const auto log_p = at::randn({7, columns}).log_softmax(1);
  const auto [best, which] = top_tokens(log_p, count);
  const auto [expected, expected_at] = log_p.topk(count, 1);
  EXPECT_TRUE(best.equal(expected));
  EXPECT_TRUE(which.equal(expected_at));
}

TEST_P(TopTokens, AreFoundInAnyColumn) {
  const auto [columns, count] = GetParam();
  auto log_p = at::full({columns, columns}, -5.0);
  log_p.diagonal().fill_(-1);
  const auto [best, which] = top_tokens(log_p, count);
  EXPECT_TRUE(which.select(1, 0).equal(at::arange(columns)));
  EXPECT_TRUE(best.select(1, 0).eq(-1).all().item<bool>());
}

TEST_P(TopTokens, ContainNaN) {
  const auto [columns, count] = GetParam();
  for (const int64_t at : {int64_t{0}, columns / 2, columns - 1}) {
    auto log_p = at::randn({3, columns});
    log_p[1][at] = std::nan("");
    const auto [best, which] = top_tokens(log_p, count);
    EXPECT_TRUE(std::isnan(best[1][0].item<double>()));
    EXPECT_EQ(which[1][0].item<int64_t>(), at);
    EXPECT_FALSE(best[0].isnan().any().item<bool>());
  }
}

}  // namespace
}  // namespace heed::testing
