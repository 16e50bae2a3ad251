#include "heed/backend/mask.h"

#include <vector>

#include <gtest/gtest.h>

namespace heed {
namespace {

/// Compares reach() with the same computed from the whole Lq x Lk mask.
void expect_reach(const Mask& mask, const BlockRange& whole) {
  const auto found = reach(mask, whole, at::kCPU);
  BlockRange all = whole;
  all.max_keys = whole.keys;
  const auto keep = kept(mask, all, whole.queries, at::kCPU).expand({-1, -1, whole.queries, -1, -1});
  const auto scored = kept(mask, whole, whole.queries, at::kCPU).expand({-1, -1, whole.queries, -1, -1});
  const auto same = [](const Tensor& x, const Tensor& y) { return (x == y).all().item<bool>(); };
  EXPECT_TRUE(same(found.keys, keep.any(2)));
  EXPECT_TRUE(same(found.values, scored.any(2)));
  EXPECT_TRUE(same(found.rows, scored.any(3)));
  EXPECT_EQ(found.rows.size(2), whole.queries);
  if (!mask.key_count.defined()) {
    const auto last = (keep.any(2).any(1).squeeze(-1).to(at::kLong) * at::arange(1, whole.keys + 1)).amax(-1);
    EXPECT_TRUE(same(found.key_count.flatten(), last));
  }
}

TEST(Reach, AgreesWithTheWholeMask) {
  at::manual_seed(1);
  const std::vector<Tensor> keeps{
      {}, at::rand({2, 1, 1, 9}) > 0.6, at::rand({2, 3, 1, 9}) > 0.8, at::rand({1, 3, 300, 9}) > 0.97};
  for (const auto& [queries, keys] : {std::pair{4, 9}, {300, 9}, {9, 4}, {1, 9}})
    for (const auto& keep : keeps)
      for (const bool counted : {false, true})
        for (const auto causal : {Causal::none, Causal::top_left, Causal::bottom_right})
          for (const auto& [left, right] : {std::pair{-1, -1}, {2, -1}, {-1, 1}, {0, 0}, {2, 1}})
            for (const int64_t first : {0, 3, 20})
              for (const int64_t max : {int64_t{2}, std::numeric_limits<int64_t>::max()}) {
                if (first > 0 && causal == Causal::bottom_right) continue;
                Mask mask{.causal = causal, .left = left, .right = right, .first_query = first};
                if (keep.defined()) mask.keep = keep.narrow(2, 0, std::min<int64_t>(keep.size(2), queries));
                if (keep.defined()) mask.keep = mask.keep.narrow(3, 0, keys);
                if (counted) mask.key_count = at::tensor(std::vector<int64_t>{3, 0});
                SCOPED_TRACE(testing::Message()
                             << queries << " queries, " << keys << " keys, causal " << static_cast<int>(causal)
                             << ", window " << left << " " << right << ", first " << first << ", most " << max);
                expect_reach(mask, {0, 0, queries, keys, max});
              }
}

TEST(Reach, WorksWithoutQueriesOrKeys) {
  for (const auto& [queries, keys] : {std::pair{0, 3}, {3, 0}, {0, 0}}) {
    const auto found = reach({.causal = Causal::top_left}, {0, 0, queries, keys}, at::kCPU);
    EXPECT_EQ(found.keys.sizes(), at::IntArrayRef({1, 1, keys, 1}));
    EXPECT_EQ(found.rows.sizes(), at::IntArrayRef({1, 1, queries, 1}));
    EXPECT_FALSE(found.keys.any().item<bool>() || found.rows.any().item<bool>());
  }
}

}  // namespace
}  // namespace heed
