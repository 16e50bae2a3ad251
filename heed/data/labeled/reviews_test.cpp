#include "heed/data/labeled/reviews.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "heed/base/md5.h"
#include "heed/base/utf8.h"
#include "heed/data/testing.h"
#include "heed/data/tokenizer/spec.h"

namespace heed::testing {
namespace {

/// The text with its relevant words in brackets, and the class.
std::string written(const Review& review) {
  std::string all;
  const auto words = whitespace_words(review.text);
  for (size_t i = 0; i < words.size(); ++i) all += (review.relevant.at(i) ? "[" + words[i] + "]" : words[i]) + " ";
  return all + review.label;
}

std::set<std::string> texts_of(const std::vector<Review>& all) {
  std::set<std::string> texts;
  for (const auto& review : all) texts.insert(review.text);
  return texts;
}

bool is_negation(const std::string& word) {
  static const std::set<std::string> all{"not", "never", "hardly", "nobody"};
  return all.count(word) > 0;
}

/// The opinion that each relevant word has without a negation, found in reviews with one such word.
const std::map<std::string, bool>& opinion_words() {
  static const auto all = [] {
    std::map<std::string, bool> words;
    for (const auto& review : reviews(11, 20000)) {
      std::vector<std::string> relevant;
      const auto text = whitespace_words(lowered(review.text));
      for (size_t i = 0; i < text.size(); ++i)
        if (review.relevant[i]) relevant.push_back(text[i]);
      const bool negated = is_negation(relevant[0]);
      if (relevant.size() == (negated ? 2U : 1U)) words[relevant.back()] = (review.label == "positive") != negated;
    }
    return words;
  }();
  return all;
}

// The results of the demo depend on these reviews.
TEST(Reviews, AreTheSameOnEveryMachine) {
  std::string all;
  for (const auto& review : reviews(1, 1000)) all += written(review) + "\n";
  EXPECT_EQ(md5_hex(all), "a288c462960becf97ebbeaf9cfb310dc");
}

TEST(Reviews, GiveAPrefixForASmallerCount) {
  const auto few = reviews(7, 50), more = reviews(7, 500), other = reviews(8, 50);
  for (size_t i = 0; i < few.size(); ++i) EXPECT_EQ(written(few[i]), written(more[i]));
  EXPECT_NE(written(few[0]), written(other[0]));
  EXPECT_TRUE(reviews(7, 0).empty());
  EXPECT_THROW(reviews(7, -1), Error);
}

TEST(Reviews, AreDistinctAndBalanced) {
  const auto all = reviews(2, 4000);
  EXPECT_EQ(texts_of(all).size(), 4000U);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Review& one) { return one.label == "positive"; }), 2000);
}

TEST(Reviews, HaveOneToFourSentencesAndAMarkForEveryWord) {
  std::map<int64_t, int64_t> lengths;
  for (const auto& review : reviews(3, 4000)) {
    const auto words = whitespace_words(review.text);
    ASSERT_EQ(review.relevant.size(), words.size());
    EXPECT_EQ(words.back(), ".");
    EXPECT_NE(std::count(review.relevant.begin(), review.relevant.end(), true), 0) << review.text;
    ++lengths[std::count(words.begin(), words.end(), ".")];
    for (size_t i = 0; i < words.size(); ++i) {
      const bool first = i == 0 || words[i - 1] == ".";
      EXPECT_TRUE(!first || words[i] != lowered(words[i])) << review.text;
    }
  }
  ASSERT_EQ(lengths.size(), 4U);
  for (const auto& [sentences, count] : lengths) EXPECT_GT(count, 800) << sentences;
}

// The class follows from the relevant words alone: every sentence has the opinion of its first word that is no
// negation, the other way around after a negation, and the majority decides.
TEST(Reviews, HaveTheClassOfTheMajorityOfTheirRelevantWords) {
  for (const auto& review : reviews(4, 4000)) {
    const auto words = whitespace_words(lowered(review.text));
    int64_t balance = 0, opinion = 0;
    bool negated = false;
    for (size_t i = 0; i < words.size(); ++i) {
      if (review.relevant[i] && is_negation(words[i])) {
        negated = true;
      } else if (review.relevant[i]) {
        opinion = opinion_words().at(words[i]) != negated ? 1 : -1;
      } else if (words[i] == ".") {
        balance += opinion;
        opinion = 0;
        negated = false;
      }
    }
    ASSERT_NE(balance, 0) << written(review);
    EXPECT_EQ(balance > 0 ? "positive" : "negative", review.label) << written(review);
  }
}

TEST(Reviews, HaveNegationsThatAreNotRelevant) {
  int64_t relevant = 0, others = 0;
  for (const auto& review : reviews(5, 4000)) {
    const auto words = whitespace_words(lowered(review.text));
    for (size_t i = 0; i < words.size(); ++i)
      if (is_negation(words[i])) ++(review.relevant[i] ? relevant : others);
  }
  EXPECT_GT(relevant, 2000);
  EXPECT_GT(others, 1500);
}

TEST(Reviews, HaveAboutTwoHundredAndFortyWords) {
  std::set<std::string> words;
  for (const auto& review : reviews(6, 8000))
    for (const auto& word : whitespace_words(lowered(review.text))) words.insert(word);
  EXPECT_EQ(words.size(), 241U);
}

/// Accuracy of naive Bayes on counts of words.
double accuracy_of_counts(const ReviewSplit& split) {
  std::map<std::string, std::array<double, 2>> counts;
  std::array<double, 2> totals{};
  for (const auto& review : split.train)
    for (const auto& word : whitespace_words(lowered(review.text))) {
      const size_t label = review.label == "positive" ? 1 : 0;
      ++counts[word][label];
      ++totals[label];
    }
  const auto size = static_cast<double>(counts.size());
  double correct = 0;
  for (const auto& review : split.test) {
    double odds = 0;
    for (const auto& word : whitespace_words(lowered(review.text))) {
      const auto& [negative, positive] = counts[word];
      odds += std::log((positive + 1) / (totals[1] + size)) - std::log((negative + 1) / (totals[0] + size));
    }
    correct += (odds > 0) == (review.label == "positive") ? 1 : 0;
  }
  return correct / static_cast<double>(split.test.size());
}

TEST(Reviews, AreNotDecidedByTheCountsOfTheirWords) {
  const double accuracy = accuracy_of_counts(review_split(1, 8000, 0, 1000));
  EXPECT_GT(accuracy, 0.5);
  EXPECT_LT(accuracy, 0.75);
}

TEST(ReviewSplit, KeepsTheSetsApartForAllSeeds) {
  const auto one = review_split(1, 2000, 100, 201), two = review_split(2, 2000, 100, 100);
  EXPECT_EQ(one.train.size(), 2000U);
  EXPECT_EQ(one.dev.size(), 100U);
  EXPECT_EQ(one.test.size(), 201U);
  EXPECT_EQ(std::count_if(one.dev.begin(), one.dev.end(), [](const Review& r) { return r.label == "positive"; }), 50);
  std::set<std::string> train = texts_of(one.train);
  train.merge(texts_of(two.train));
  for (const auto* set : {&one.dev, &one.test, &two.dev, &two.test})
    for (const auto& review : *set) EXPECT_EQ(train.count(review.text), 0U) << review.text;
  const auto dev = texts_of(one.dev);
  for (const auto& review : two.test) EXPECT_EQ(dev.count(review.text), 0U) << review.text;
}

TEST(ReviewSplit, RefusesANegativeNumber) {
  EXPECT_TRUE(says(error_of([] { review_split(1, 1, -2, 3); }), {"got 1, -2 and 3 reviews, expected 0 or more"}));
}

}  // namespace
}  // namespace heed::testing
