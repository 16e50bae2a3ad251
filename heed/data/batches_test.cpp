#include "heed/data/batches.h"

#include <algorithm>
#include <set>

#include "heed/base/shuffle.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

/// Sentences of 0 to 29 tokens, and one of 100.
IdPairs some_corpus(int64_t pairs) {
  IdPairs corpus;
  SplitMix random(7);
  for (int64_t i = 0; i < pairs; ++i) {
    const uint64_t length = i == 5 ? 100 : random.below(30);
    corpus.source.push_back(Ids(length, 4 + i));
    corpus.target.push_back(Ids(std::min<uint64_t>(length + random.below(4), 100), 4 + i));
  }
  return corpus;
}

TEST(Batches, ShowEveryPairOnceInAnEpoch) {
  const auto corpus = some_corpus(1000);
  const Batches batches(corpus, {.tokens = 200});
  for (const int64_t epoch : {0, 1}) {
    std::multiset<int64_t> seen;
    for (int64_t i = 0; i < batches.count(epoch); ++i) {
      for (const int64_t row : batches.rows(epoch, i)) seen.insert(row);
    }
    EXPECT_EQ(seen.size(), 1000U);
    EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 1000U);
  }
}

TEST(Batches, DependOnSeedAndEpochAlone) {
  const auto corpus = some_corpus(300);
  const auto order = [&](uint64_t seed, int64_t epoch) {
    const Batches batches(corpus, {.tokens = 200, .seed = seed});
    std::vector<Rows> all;
    for (int64_t i = 0; i < batches.count(epoch); ++i) all.push_back(batches.rows(epoch, i));
    return all;
  };
  EXPECT_EQ(order(1, 3), order(1, 3));
  EXPECT_NE(order(1, 3), order(1, 4));
  EXPECT_NE(order(1, 3), order(2, 3));
  const Batches batches(corpus, {.tokens = 200, .seed = 1});
  batches.count(9);  // independent of earlier requests
  EXPECT_EQ(batches.rows(3, 0), order(1, 3).front());
}

// The order is the same on every machine and with every library; it was computed independently in Python.
TEST(Batches, HaveTheOrderOfTheirSeed) {
  IdPairs corpus;
  for (int64_t i = 0; i < 8; ++i) corpus.source.push_back({4}), corpus.target.push_back({4});
  const Batches batches(corpus, {.tokens = 4, .seed = 1});
  std::vector<Rows> all;
  for (int64_t i = 0; i < batches.count(0); ++i) all.push_back(batches.rows(0, i));
  EXPECT_EQ(all, (std::vector<Rows>{{7, 5}, {3, 0}, {6, 2}, {4, 1}}));
}

TEST(Batches, StayWithinTheirTokensWithLittlePadding) {
  const auto corpus = some_corpus(3000);
  const Batches batches(corpus, {.tokens = 400});
  int64_t held = 0, pieces = 0;
  for (int64_t i = 0; i < batches.count(0); ++i) {
    const Rows& rows = batches.rows(0, i);
    int64_t source_width = 0, target_width = 0;
    for (const int64_t row : rows) {
      source_width = std::max(source_width, row_width(corpus.source, row));
      target_width = std::max(target_width, row_width(corpus.target, row));
      pieces += row_width(corpus.target, row);
    }
    const auto count = static_cast<int64_t>(rows.size());
    EXPECT_LE(count * std::max(source_width, target_width), 400);
    held += count * target_width;
  }
  EXPECT_LT(static_cast<double>(held), 1.05 * static_cast<double>(pieces));
  EXPECT_LT(batches.count(0), 1.2 * static_cast<double>(pieces) / 400);
}

TEST(Batches, GiveALongPairABatchOfItsOwn) {
  const auto corpus = some_corpus(50);  // pair 5 has 101 tokens
  const Batches batches(corpus, {.tokens = 40});
  bool alone = false;
  for (int64_t i = 0; i < batches.count(0); ++i) alone = alone || batches.rows(0, i) == Rows{5};
  EXPECT_TRUE(alone);
  EXPECT_EQ(Batches(corpus, {.tokens = 1}).count(0), 50);
}

TEST(Batches, LeaveOutPairsThatAreTooLong) {
  const auto corpus = some_corpus(50);
  const Batches batches(corpus, {.tokens = 200, .max_length = 99});
  EXPECT_EQ(batches.left_out(), 1);
  EXPECT_EQ(batches.pairs(), 49);
  EXPECT_EQ(Batches(corpus, {.max_length = 100}).left_out(), 0);
}

TEST(Batches, MayLimitTheNumberOfPairs) {
  const auto corpus = some_corpus(100);
  const Batches batches(corpus, {.tokens = 100'000, .rows = 8});
  EXPECT_EQ(batches.count(0), 13);  // 12 of 8 and one of 4
}

TEST(Batches, RefuseInvalidOptions) {
  const auto corpus = some_corpus(5);
  EXPECT_TRUE(says(error_of([&] { Batches(corpus, {.tokens = 0}); }), {"a batch of 0 tokens"}));
  EXPECT_TRUE(says(error_of([&] { Batches(IdPairs{}, {}); }), {"of 0 pairs none"}));
  EXPECT_TRUE(says(error_of([] { Batches({{{4, 4, 4}}, {{4}}}, {.max_length = 2}); }), {"none has at most 2 tokens"}));
  EXPECT_TRUE(says(error_of([] { Batches({{{4}}, {{4}, {5}}}, {}); }), {"got 1 sentences and 2 translations"}));
  EXPECT_TRUE(says(error_of([] { share(7, 2, 2); }), {"got rank 2 of 2"}));
  const Batches batches(corpus, {});
  EXPECT_TRUE(says(error_of([&] { batches.rows(0, 99); }), {"got batch 99 of epoch 0"}));
}

// Widths with </s> are 4, 4, 3, 3, 3: 2 * 4 fits into 9, then 3 * 3. A batch that kept the width of the previous one
// would hold 2.
TEST(Batches, ForgetTheWidthOfTheBatchBefore) {
  const IdPairs corpus{{{4, 4, 4}, {4, 4, 4}, {4, 4}, {4, 4}, {4, 4}}, {}};
  EXPECT_EQ(batches_by_length(corpus, 9), (std::vector<Rows>{{0, 1}, {2, 3, 4}}));
}

TEST(Batches, ByLengthBeginWithTheLongest) {
  const IdPairs corpus{{{4}, {4, 4, 4}, {}, {4, 4}, {5, 5, 5}}, {}};
  const std::vector<Rows> expected = {{1, 4}, {3, 0}, {2}};  // 2 * 4, 2 * 3 (a third pair would make 9), 1
  EXPECT_EQ(batches_by_length(corpus, 8), expected);
  EXPECT_EQ(batches_by_length(corpus, 8, 1).size(), 5U);
  EXPECT_TRUE(batches_by_length({}, 8).empty());
}

}  // namespace
}  // namespace heed::testing
