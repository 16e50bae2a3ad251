// TER computed by hand; sacrebleu_test.cpp compares many lines with sacreBLEU.

#include "heed/metrics/ter.h"

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/metrics/beam_distance.h"
#include "heed/version.h"

namespace heed {
namespace {

TEST(Ter, CountsInsertionsDeletionsAndReplacements) {
  EXPECT_NEAR(ter({"a b c"}, {{"a x c d"}}).score, 50, 1e-12);  // b to x, and d: 2 edits, 4 words
  EXPECT_EQ(ter({"a b c"}, {{"a b c"}}).score, 0);
}

// Shifting the phrase "d e" is one edit; deleting and inserting its words would be 4.
TEST(Ter, CountsAShiftedPhraseOnce) {
  const Ter found = ter({"d e a b c"}, {{"a b c d e"}});
  EXPECT_EQ(found.edits, 1);
  EXPECT_NEAR(found.score, 20, 1e-12);
}

std::string numbered_words(const std::string& name, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : " ") + name + std::to_string(i);
  return text;
}

// A shift covers at most 50 positions and a phrase at most 10 words; the edits are those of sacreBLEU 2.6.
TEST(Ter, ShiftsNoFurtherAndNoMoreThanTercom) {
  for (const auto& [distance, edits] : {std::pair{49, 1}, {50, 1}, {51, 2}}) {
    const std::string words = numbered_words("w", distance);
    EXPECT_EQ(ter({"x " + words}, {{words + " x"}}).edits, edits) << distance;
    EXPECT_EQ(ter({words + " x"}, {{"x " + words}}).edits, edits) << distance;
  }
  const std::string words = numbered_words("w", 30);
  for (const auto& [length, edits] : {std::pair{9, 1}, {10, 1}, {11, 2}, {20, 2}, {21, 3}}) {
    const std::string run = numbered_words("r", length);
    EXPECT_EQ(ter({run + " " + words}, {{words + " " + run}}).edits, edits) << length;
    EXPECT_EQ(ter({words + " " + run}, {{run + " " + words}}).edits, edits) << length;
  }
}

// The reference contains both words in order, so 118 of its 120 words are inserted. The diagonal moves 60 columns per
// row of the table, more than twice the default beam of 25.
TEST(Ter, OfTwoWordsAgainstManyCountsTheInsertions) {
  const Ter found = ter({"w40 w80"}, {{numbered_words("w", 120)}});
  EXPECT_EQ(found.edits, 118);
  EXPECT_NEAR(found.score, 100.0 * 118 / 120, 1e-12);
}

// The closer reference needs 2 edits; the references have 2 and 4 words: 2 / 3.
TEST(Ter, TakesTheFewestEditsAndTheMeanLength) {
  const Ter found = ter({"a b"}, {{"x y"}, {"a b c d"}});
  EXPECT_EQ(found.edits, 2);
  EXPECT_EQ(found.reference_length, 3);
  EXPECT_NEAR(found.score, 100.0 * 2 / 3, 1e-12);
}

TEST(Ter, OfAnEmptyReferenceIsAllOrNothing) {
  EXPECT_EQ(ter({"a b"}, {{""}}).score, 100);
  EXPECT_EQ(ter({""}, {{""}}).score, 0);
  EXPECT_EQ(ter({""}, {{"a b"}}).score, 100);
}

TEST(Ter, IgnoresCaseByDefault) {
  EXPECT_EQ(ter({"A b"}, {{"a B"}}).edits, 0);
  EXPECT_EQ(ter({"A b"}, {{"a B"}}, {.case_sensitive = true}).edits, 2);
  EXPECT_EQ(ter({"a, b."}, {{"a b"}}, {.no_punct = true}).edits, 0);
  EXPECT_EQ(ter({"a, b"}, {{"a , b"}}, {.normalized = true}).edits, 0);
}

TEST(Ter, SignsAsSacrebleuDoes) {
  EXPECT_EQ(signature(TerOptions{}),
            "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:heed-" + std::string(kVersion));
}

TEST(Ter, RefusesACorpusWithSentencesMissing) {
  EXPECT_THROW(ter({"a"}, {{"a", "b"}}), Error);
}

// kitten to sitting, with letters as words.
TEST(BeamDistance, IsTheEditDistance) {
  const BeamDistance d({'k', 'i', 't', 't', 'e', 'n'}, {'s', 'i', 't', 't', 'i', 'n', 'g'});
  EXPECT_EQ(d.distance(), 3);
  const EditPath path = d.path();
  EXPECT_EQ(path.position, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 5}));
  EXPECT_EQ(path.reference_wrong, (std::vector<bool>{true, false, false, false, true, false, true}));
  EXPECT_EQ(path.hypothesis_wrong, (std::vector<bool>{true, false, false, false, true, false}));
}

TEST(BeamDistance, MeasuresRearrangementsAsIfFromTheStart) {
  const BeamDistance::Words from{1, 2, 3, 4, 5, 6, 7}, to{3, 4, 1, 2, 9, 6, 7}, moved{3, 4, 1, 2, 5, 6, 7};
  BeamDistance d(from, to);
  const int64_t before = d.distance();
  EXPECT_EQ(d.distance_of(moved, 0, 4), 1);
  EXPECT_EQ(d.distance_of(from, 0, 2), before);
  d.move_to(moved);
  EXPECT_EQ(d.distance(), 1);
}

// 200 words against 1: the diagonal moves 200 columns per row, and the beam is widened until rows overlap.
TEST(BeamDistance, ReachesSentencesOfVeryDifferentLength) {
  EXPECT_EQ(BeamDistance({1}, BeamDistance::Words(200, 1)).distance(), 199);
  EXPECT_EQ(BeamDistance(BeamDistance::Words(200, 1), {1}).distance(), 199);
  EXPECT_EQ(BeamDistance({}, {1, 2}).distance(), 2);
}

}  // namespace
}  // namespace heed
