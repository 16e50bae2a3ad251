#include "heed/models/classify/text_batch.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

/// Two texts for each of three examples; the second text of the last is empty.
ExampleIds texts() {
  return {.columns = {{{{4, 5}}, {{6}}, {{7, 8, 9}}}, {{{4}}, {{5, 6}}, {{}}}}};
}

TEST(TextBatch, PadsEveryColumnToItsLongestText) {
  const TextBatch batch = collate(texts(), {2, 0});
  ASSERT_EQ(batch.columns.size(), 2U);
  EXPECT_TRUE(at::equal(batch.columns[0].ids, at::tensor({7, 8, 9, 4, 5, 0}, at::kLong).view({2, 3})));
  EXPECT_TRUE(at::equal(batch.columns[0].keep, batch.columns[0].ids.ne(0)));
  EXPECT_TRUE(at::equal(batch.columns[1].ids, at::tensor({0, 4}, at::kLong).view({2, 1})));
  EXPECT_FALSE(batch.columns[1].keep[0].any().item<bool>());  // an empty text is one padded token
  EXPECT_EQ(batch.tokens, 6);
}

TEST(TextBatch, HasAnAxisOfSentencesForDocuments) {
  const ExampleIds documents{.columns = {{{{4, 5}, {6}}, {{7}}}}, .documents = true};
  const TextBatch batch = collate(documents, {0, 1});
  EXPECT_TRUE(at::equal(batch.columns[0].ids, at::tensor({4, 5, 6, 0, 7, 0, 0, 0}, at::kLong).view({2, 2, 2})));
  EXPECT_TRUE(at::equal(batch.columns[0].keep, batch.columns[0].ids.ne(0)));
}

TEST(TextBatch, IsSharedByProcessesAtTheSizesOfTheWhole) {
  const TextBatch whole = collate(texts(), {0, 1, 2}), second = collate(texts(), {0, 1, 2}, 1, 2);
  EXPECT_EQ(second.first_row, 1);
  EXPECT_TRUE(at::equal(second.columns[0].ids, whole.columns[0].ids.narrow(0, 1, 2)));
  EXPECT_EQ(collate(texts(), {0}, 0, 2).rows.size(), 0U);
}

TEST(TextBatch, IsPaddedToMinimumSizes) {
  EXPECT_EQ(collate(texts(), {0}, 0, 1, {{1, 7}, {1, 8}}).columns[1].ids.size(1), 8);
}

TEST(TextBatch, CountsTheTokensOfAnExampleWithThePaddingOfItsSentences) {
  const auto counts = [](const ExampleIds& examples) {
    std::vector<size_t> all;
    for (const Ids& ids : examples.lengths().source) all.push_back(ids.size());
    return all;
  };
  EXPECT_EQ(counts(texts()), (std::vector<size_t>{3, 3, 3}));
  const ExampleIds documents{.columns = {{{{4, 5, 6}, {7}}, {{8}}, {}}}, .documents = true};
  EXPECT_EQ(counts(documents), (std::vector<size_t>{6, 1, 0}));  // 2 sentences of 3
}

TEST(TextBatch, RefusesRowsThatAreNotThere) {
  EXPECT_TRUE(says(error_of([] { collate(texts(), {3}); }), {"got row 3, expected 0 to 2"}));
}

}  // namespace
}  // namespace heed::testing
