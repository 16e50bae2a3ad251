#include "heed/models/translate/pair_batch.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

at::Tensor id_table(const std::vector<Ids>& rows) {
  std::vector<at::Tensor> all;
  for (const auto& row : rows) all.push_back(at::tensor(at::IntArrayRef(row), at::kLong).unsqueeze(0));
  return at::cat(all);
}

at::Tensor id_flags(const std::vector<Ids>& rows) {
  return id_table(rows).to(at::kBool);
}

/// A source of each length, and a target with one piece more.
IdPairs corpus_of_lengths(const std::vector<size_t>& lengths) {
  IdPairs corpus;
  for (const size_t length : lengths) {
    const auto id = static_cast<int64_t>(4 + corpus.source.size());
    corpus.source.push_back(Ids(length, id));
    corpus.target.push_back(Ids(length + 1, id));
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
  EXPECT_TRUE(at::equal(batch.source, id_table({{10, 11, 12, 3}, {13, 3, 0, 0}, {3, 0, 0, 0}})));
  EXPECT_TRUE(at::equal(batch.source_keep, id_flags({{1, 1, 1, 1}, {1, 1, 0, 0}, {1, 0, 0, 0}})));
  EXPECT_TRUE(at::equal(batch.target_in, id_table({{2, 20, 0}, {2, 21, 22}, {2, 23, 0}})));
  EXPECT_TRUE(at::equal(batch.target_out, id_table({{20, 3, 0}, {21, 22, 3}, {23, 3, 0}})));
  EXPECT_TRUE(at::equal(batch.target_keep, id_flags({{1, 1, 0}, {1, 1, 1}, {1, 1, 0}})));
  EXPECT_EQ(batch.source_tokens, 7);
  EXPECT_EQ(batch.target_tokens, 7);
  EXPECT_EQ(batch.rows, (Rows{0, 1, 2}));
}

TEST(PairBatch, HasNoTargetsWhereThereAreNone) {
  const auto batch = collate({{{10, 11}, {12}}, {}}, {1, 0}).to(at::kCPU);
  EXPECT_TRUE(at::equal(batch.source, id_table({{12, 3, 0}, {10, 11, 3}})));
  EXPECT_FALSE(batch.target_in.defined());
}

TEST(PairBatch, IsSharedInRunsOfRows) {
  const auto corpus = corpus_of_lengths({3, 0, 12, 7, 7, 1, 9, 4, 2, 30});
  const Rows rows = {7, 5, 3, 1, 8, 9, 2};
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

TEST(PairBatch, RefusesRowsAndCorporaThatDoNotFit) {
  EXPECT_TRUE(says(error_of([] { collate({{{4}}, {{4}, {5}}}, {0}); }), {"got 1 sentences and 2 translations"}));
  EXPECT_TRUE(says(error_of([] { collate(small_corpus(), {3}); }), {"row 3, expected 0 to 2"}));
}

TEST(PairBatch, ListsItsRealTargets) {
  const auto batch = collate(small_corpus(), {0, 1, 2});
  EXPECT_TRUE(at::equal(batch.real, batch.target_keep.flatten().nonzero().squeeze(1)));
}

TEST(PairBatch, IsRoundedUpWithPadding) {
  const auto plain = collate(small_corpus(), {0, 1, 2}),
             rounded = collate(small_corpus(), {0, 1, 2}, 0, 1, {.rows = 4, .length = 6, .one_shape = true});
  EXPECT_EQ(rounded.source.sizes(), (at::IntArrayRef{4, 6}));
  EXPECT_EQ(rounded.target_in.sizes(), (at::IntArrayRef{4, 6}));
  EXPECT_TRUE(rounded.one_shape);
  EXPECT_FALSE(rounded.real.defined());
  EXPECT_EQ(rounded.target_tokens, plain.target_tokens);
  EXPECT_TRUE(at::equal(rounded.source.narrow(0, 0, 3).narrow(1, 0, 4), plain.source));
  EXPECT_TRUE(at::equal(rounded.target_out.narrow(0, 0, 3).narrow(1, 0, 3), plain.target_out));
  EXPECT_EQ(rounded.source_keep.sum().item<int64_t>(), plain.source_tokens);
  EXPECT_EQ(rounded.target_keep.sum().item<int64_t>(), plain.target_tokens);
}

TEST(PairBatch, MovesInOnePiece) {
  const auto batch = collate(small_corpus(), {2, 0, 1});
  const auto copy = batch.in(batch.buffer.clone());
  EXPECT_FALSE(copy.source.is_alias_of(batch.source));
  for (const auto field : {&PairBatch::source, &PairBatch::source_keep, &PairBatch::target_in, &PairBatch::target_out,
                           &PairBatch::target_keep, &PairBatch::real}) {
    EXPECT_TRUE(at::equal(copy.*field, batch.*field));
    EXPECT_TRUE((copy.*field).is_alias_of(copy.buffer));
  }
}

}  // namespace
}  // namespace heed::testing
