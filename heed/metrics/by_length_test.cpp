#include "heed/metrics/by_length.h"

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed {
namespace {

TEST(BleuByLength, GroupsSentencesBySourceLength) {
  const Sentences hypotheses{"a b c d", "e f g h", "i j k x", "m n o p"};
  const std::vector<Sentences> references{{"a b c d", "e f g x", "i j k l", "m n o p"}};
  const auto buckets = bleu_by_length({3, 10, 11, 99}, hypotheses, references, {}, {10, 20, 30});
  ASSERT_EQ(buckets.size(), 3U);  // none of 21 to 30 words
  EXPECT_EQ(buckets[0].sentences, 2);
  EXPECT_EQ(buckets[0].shortest, 3);
  EXPECT_EQ(buckets[0].longest, 10);
  EXPECT_DOUBLE_EQ(buckets[0].bleu.score,
                   bleu({hypotheses[0], hypotheses[1]}, {{references[0][0], references[0][1]}}).score);
  EXPECT_DOUBLE_EQ(buckets[1].bleu.score, bleu({hypotheses[2]}, {{references[0][2]}}).score);
  EXPECT_EQ(buckets[2].shortest, 99);
  EXPECT_NEAR(buckets[2].bleu.score, 100, 1e-12);
}

// A line of Chinese without whitespace would count as one word; a few lines with whitespace do not change the unit.
TEST(SentenceLengths, AreInCharactersWhereMostLinesHaveNoWhitespace) {
  const auto words = sentence_lengths(Sentences{"a b  c", "Hello", "", "d\u3000e"});
  EXPECT_FALSE(words.characters);
  EXPECT_EQ(words.lengths, (std::vector<int64_t>{3, 1, 0, 2}));
  const auto characters = sentence_lengths(Sentences{"狗咬人。", "他是一个 DJ 。", "不奇怪", ""});
  EXPECT_TRUE(characters.characters);
  EXPECT_EQ(characters.lengths, (std::vector<int64_t>{4, 7, 3, 0}));
  EXPECT_EQ(sentence_lengths(Sentences{"a b"}, true).lengths, (std::vector<int64_t>{2}));
  EXPECT_FALSE(sentence_lengths(Sentences{"", ""}).characters);
}

TEST(BleuByLength, RefusesWhatDoesNotFit) {
  EXPECT_THROW(bleu_by_length({1, 2}, {"a"}, {{"a"}}), Error);
  EXPECT_THROW(bleu_by_length({1}, {"a"}, {{"a"}}, {}, {20, 10}), Error);
}

}  // namespace
}  // namespace heed
