#include "heed/data/batches.h"

#include <algorithm>
#include <set>

#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>

#include "heed/base/shuffle.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

at::Tensor table(const std::vector<Ids>& rows) {
  std::vector<at::Tensor> all;
  for (const auto& row : rows) all.push_back(at::tensor(at::IntArrayRef(row), at::kLong).unsqueeze(0));
  return at::cat(all);
}

at::Tensor flags(const std::vector<Ids>& rows) {
  return table(rows).to(at::kBool);
}

/// Sentences of 0 to 29 pieces, the longest 100.
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

const IdPairs& small_corpus() {
  static const IdPairs corpus{{{10, 11, 12}, {13}, {}}, {{20}, {21, 22}, {23}}};
  return corpus;
}

// </s> = 3 after every sentence, <s> = 2 before what the decoder reads, <pad> = 0 elsewhere.
TEST(PairBatch, IsPaddedAndFramed) {
  const auto batch = collate(small_corpus(), {0, 1, 2});
  EXPECT_TRUE(at::equal(batch.source, table({{10, 11, 12, 3}, {13, 3, 0, 0}, {3, 0, 0, 0}})));
  EXPECT_TRUE(at::equal(batch.source_keep, flags({{1, 1, 1, 1}, {1, 1, 0, 0}, {1, 0, 0, 0}})));
  EXPECT_TRUE(at::equal(batch.target_in, table({{2, 20, 0}, {2, 21, 22}, {2, 23, 0}})));
  EXPECT_TRUE(at::equal(batch.target_out, table({{20, 3, 0}, {21, 22, 3}, {23, 3, 0}})));
  EXPECT_TRUE(at::equal(batch.target_keep, flags({{1, 1, 0}, {1, 1, 1}, {1, 1, 0}})));
  EXPECT_EQ(batch.source_tokens, 7);
  EXPECT_EQ(batch.target_tokens, 7);
  EXPECT_EQ(batch.rows, (Rows{0, 1, 2}));
}

TEST(PairBatch, HasNoTargetsWhereThereAreNone) {
  const auto batch = collate({{{10, 11}, {12}}, {}}, {1, 0}).to(at::kCPU);
  EXPECT_TRUE(at::equal(batch.source, table({{12, 3, 0}, {10, 11, 3}})));
  EXPECT_FALSE(batch.target_in.defined());
}

TEST(PairBatch, IsSharedInRunsOfRows) {
  const auto corpus = some_corpus(50);
  const Rows rows = {7, 5, 3, 1, 8, 9, 20};
  const auto whole = collate(corpus, rows);
  for (const int64_t world : {1, 2, 3, 7, 10}) {
    std::vector<at::Tensor> sources, outs;
    int64_t next = 0, tokens = 0;
    for (int64_t rank = 0; rank < world; ++rank) {
      const auto part = collate(corpus, rows, rank, world);
      EXPECT_EQ(part.first_row, next);
      EXPECT_EQ(part.all_target_tokens, whole.target_tokens);
      EXPECT_EQ(part.source.size(1), whole.source.size(1));
      next += part.source.size(0);
      tokens += part.target_tokens;
      sources.push_back(part.source);
      outs.push_back(part.target_out);
    }
    EXPECT_EQ(next, 7);
    EXPECT_EQ(tokens, whole.target_tokens);
    EXPECT_TRUE(at::equal(at::cat(sources), whole.source)) << world;
    EXPECT_TRUE(at::equal(at::cat(outs), whole.target_out)) << world;
  }
  EXPECT_TRUE(says(error_of([&] { collate(corpus, rows, 2, 2); }), {"got rank 2 of 2"}));
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
  batches.count(9);  // whatever was asked before
  EXPECT_EQ(batches.rows(3, 0), order(1, 3).front());
}

// The same on every machine and with every library; the order was worked out by a few lines of Python.
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
    const auto batch = batches.batch(0, i);
    const int64_t cells = std::max(batch.source.numel(), batch.target_in.numel());
    EXPECT_LE(cells, 400);
    held += batch.target_in.numel();
    pieces += batch.target_tokens;
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

TEST(Batches, LeaveOutWhatIsTooLong) {
  const auto corpus = some_corpus(50);
  const Batches batches(corpus, {.tokens = 200, .max_length = 99});
  EXPECT_EQ(batches.left_out(), 1);
  EXPECT_EQ(batches.pairs(), 49);
  EXPECT_EQ(Batches(corpus, {.max_length = 100}).left_out(), 0);
}

TEST(Batches, MayHaveFewRows) {
  const auto corpus = some_corpus(100);
  const Batches batches(corpus, {.tokens = 100'000, .rows = 8});
  EXPECT_EQ(batches.count(0), 13);  // 12 of 8 and one of 4
}

TEST(Batches, RefuseWhatMakesNoSense) {
  const auto corpus = some_corpus(5);
  EXPECT_TRUE(says(error_of([&] { Batches(corpus, {.tokens = 0}); }), {"a batch of 0 tokens"}));
  EXPECT_TRUE(says(error_of([&] { Batches(IdPairs{}, {}); }), {"of 0 pairs none"}));
  EXPECT_TRUE(says(error_of([] { Batches({{{4, 4, 4}}, {{4}}}, {.max_length = 2}); }), {"none has at most 2 pieces"}));
  EXPECT_TRUE(says(error_of([] { collate({{{4}}, {{4}, {5}}}, {0}); }), {"got 1 sentences and 2 translations"}));
  EXPECT_TRUE(says(error_of([&] { collate(corpus, {5}); }), {"row 5, expected 0 to 4"}));
  const Batches batches(corpus, {});
  EXPECT_TRUE(says(error_of([&] { batches.rows(0, 99); }), {"got batch 99 of epoch 0"}));
}

// Widths 4, 4, 3, 3, 3 with the end: 2 * 4 are within 9, then 3 * 3. A batch that kept the width of the one before
// would hold 2.
TEST(Batches, ForgetTheWidthOfTheBatchBefore) {
  const IdPairs corpus{{{4, 4, 4}, {4, 4, 4}, {4, 4}, {4, 4}, {4, 4}}, {}};
  EXPECT_EQ(batches_by_length(corpus, 9), (std::vector<Rows>{{0, 1}, {2, 3, 4}}));
}

TEST(Batches, ByLengthBeginWithTheLongest) {
  const IdPairs corpus{{{4}, {4, 4, 4}, {}, {4, 4}, {5, 5, 5}}, {}};
  const std::vector<Rows> expected = {{1, 4}, {3, 0}, {2}};  // 2 * 4, 2 * 3 (a third row would make 9), 1
  EXPECT_EQ(batches_by_length(corpus, 8), expected);
  EXPECT_EQ(batches_by_length(corpus, 8, 1).size(), 5U);
  EXPECT_TRUE(batches_by_length({}, 8).empty());
}

}  // namespace
}  // namespace heed::testing
