// WER, CER and PER computed by hand, and against jiwer on random and degenerate lines. fixtures/jiwer_scores.py writes
// fixtures/jiwer.json.

#include "heed/metrics/edit_rate.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/metrics/testing_refusal.h"

namespace heed {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

EditCounts counts(int64_t substitutions, int64_t deletions, int64_t insertions, int64_t hits) {
  return {.substitutions = substitutions, .deletions = deletions, .insertions = insertions, .hits = hits};
}

double wer(const std::string& hypothesis, const std::string& reference) {
  return edit_rate({hypothesis}, {reference}).rate;
}

TEST(EditRate, CountsWordsThatAreReplacedMissingOrAdded) {
  EXPECT_EQ(edit_rate({"This test"}, {"This is a test"}).counts, counts(0, 2, 0, 2));
  EXPECT_EQ(wer("This test", "This is a test"), 0.5);
  EXPECT_EQ(wer("i am a considerably longer and very much incorrect hypothesis", "i am a short ground truth"), 7. / 6);
  EXPECT_EQ(wer("a b", "a B"), 0.5);  // case counts
}

TEST(EditRate, OfAnEmptyReferenceIsTheNumberOfWords) {
  EXPECT_EQ(wer("", ""), 0);
  EXPECT_EQ(wer("one two three", ""), 3);
  EXPECT_EQ(wer("", "one two three"), 1);
  EXPECT_EQ(wer("  ", " \t "), 0);
  EXPECT_EQ(edit_rate({"a b"}, {""}, EditUnit::character).rate, 3);
}

// 1 edit of 4 words and 1 of 1: 2 / 5, not the mean of 1/4 and 1.
TEST(EditRate, IsThatOfTheCountsOverTheCorpus) {
  const EditRate found = edit_rate({"a b c x", "y"}, {"a b c d", "e"});
  EXPECT_EQ(found.rate, 0.4);
  EXPECT_EQ(found.counts, counts(2, 0, 0, 3));
  EXPECT_EQ(found.sentences, (std::vector{counts(1, 0, 0, 3), counts(1, 0, 0, 0)}));
}

TEST(EditRate, OfCharactersCountsCodePointsAndInnerSpaces) {
  const EditRate found = edit_rate({"  nai\u0308ve caf\u00e9 "}, {"na\u00efve caf\u00e9"}, EditUnit::character);
  EXPECT_EQ(found.counts, counts(1, 0, 1, 9));  // i and a diaeresis for one character
  EXPECT_EQ(edit_rate({"ab"}, {"a b"}, EditUnit::character).counts, counts(0, 1, 0, 2));
  EXPECT_EQ(edit_rate({"\u5357\u4eac"}, {"\u5317\u4eac"}, EditUnit::character).rate, 0.5);
}

// h# is sil, ax is ah, q is left out: "sil ah t" for "sil ah d".
TEST(EditRate, OfPhonesFoldsBothSides) {
  const EditRate found = edit_rate({"h# ax q t"}, {"pau\tah d"}, EditUnit::phone, timit_fold());
  EXPECT_EQ(found.counts, counts(1, 0, 0, 2));
  EXPECT_EQ(edit_rate({"h# ax q t"}, {"pau\tah d"}, EditUnit::phone).counts.edits(), 4);
  EXPECT_EQ(edit_rate({"q"}, {"q q"}, EditUnit::phone, timit_fold()).rate, 0);  // nothing is left on either side
}

TEST(EditRate, FoldsThe61PhonesOfTimitTo39) {
  const auto all = edit_items(
      "aa ae ah ao aw ax ax-h axr ay b bcl ch d dcl dh dx eh el em en eng epi er ey f g gcl h# hh hv ih ix iy jh k kcl "
      "l m n ng nx ow oy p pau pcl q r s sh t tcl th uh uw ux v w y z zh",
      EditUnit::phone, timit_fold());
  EXPECT_EQ(all.size(), 60U);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 39U);
}

TEST(EditRate, RefusesACorpusWithLinesMissing) {
  EXPECT_EQ(refusal([] {
              edit_rate({"a", "b"}, {"a"});
            }),
            "metrics/edit_rate: got 2 hypotheses but 1 references, expected equal numbers");
  EXPECT_EQ(refusal([] { edit_rate({}, {}); }), "metrics/edit_rate: got no hypotheses, expected at least one");
  EXPECT_EQ(refusal([] {
              edit_rate({"a"}, {"a"}, EditUnit::word, {{"a", "b"}});
            }),
            "metrics/edit_rate: got a fold of 1 phones, expected none; only phones are folded");
}

/// The whole table, by the definition.
int64_t distance_by_definition(const Symbols& one, const Symbols& other) {
  std::vector<std::vector<int64_t>> d(one.size() + 1, std::vector<int64_t>(other.size() + 1));
  for (size_t i = 0; i <= one.size(); ++i)
    for (size_t j = 0; j <= other.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = static_cast<int64_t>(i + j);
      } else {
        d[i][j] = std::min({d[i - 1][j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1), d[i - 1][j] + 1, d[i][j - 1] + 1});
      }
    }
  return d.back().back();
}

// Up to 400 edits, so limits of 64 to 512 are tried. Rearranged halves need a band far from the diagonal.
TEST(EditCounts, CountsAllEditsOfLongSequences) {
  std::mt19937 draw(5);
  for (const int kinds : {2, 5, 1000})
    for (int trial = 0; trial < 30; ++trial) {
      Symbols reference(draw() % 400), hypothesis(draw() % 400);
      for (auto& symbol : reference) symbol = static_cast<int32_t>(draw() % static_cast<unsigned>(kinds));
      for (auto& symbol : hypothesis) symbol = static_cast<int32_t>(draw() % static_cast<unsigned>(kinds));
      if (trial % 3 == 0 && reference.size() > 10) {
        hypothesis = reference;
        std::rotate(hypothesis.begin(), hypothesis.begin() + static_cast<int64_t>(draw() % reference.size()),
                    hypothesis.end());
      }
      const EditCounts found = edit_counts(hypothesis, reference);
      EXPECT_EQ(found.edits(), distance_by_definition(hypothesis, reference));
      EXPECT_EQ(found.reference_length(), static_cast<int64_t>(reference.size()));
      EXPECT_EQ(found.hypothesis_length(), static_cast<int64_t>(hypothesis.size()));
      EXPECT_GE(std::min({found.substitutions, found.deletions, found.insertions, found.hits}), 0);
    }
}

// A million items with 2 edits far apart: the band has some 64 of a million diagonals.
TEST(EditCounts, OfLongSequencesWithFewEditsTakesLinearTime) {
  Symbols reference(1'000'000);
  for (size_t i = 0; i < reference.size(); ++i) reference[i] = static_cast<int32_t>(i % 1009);
  Symbols hypothesis = reference;
  hypothesis[3] = -1;
  hypothesis.erase(hypothesis.end() - 5);
  EXPECT_EQ(edit_counts(hypothesis, reference), counts(1, 1, 0, 999'998));
}

const json& fixture() {
  static const json all = json::parse(std::ifstream("heed/metrics/fixtures/jiwer.json"));
  return all;
}

EditCounts counts(const json& four) {
  return counts(four.at(0), four.at(1), four.at(2), four.at(3));
}

TEST(Jiwer, HasRatesOfManyLines) {
  EXPECT_GE(fixture().at("words").size(), 200U);
  EXPECT_GE(fixture().at("characters").size(), 200U);
}

TEST(Jiwer, HasTheSameCountsAndRates) {
  for (const auto& [name, unit] : {std::pair{"words", EditUnit::word}, {"characters", EditUnit::character}})
    for (const auto& one : fixture().at(name)) {
      SCOPED_TRACE(one.dump());
      const EditRate found = edit_rate(one["hypotheses"].get<Lines>(), one["references"].get<Lines>(), unit);
      EXPECT_NEAR(found.rate, one["rate"].get<double>(), 1e-12);
      EXPECT_EQ(found.counts, counts(one["counts"]));
      if (!one.contains("each")) continue;
      for (size_t i = 0; i < found.sentences.size(); ++i) EXPECT_EQ(found.sentences[i], counts(one["each"][i]));
    }
}

}  // namespace
}  // namespace heed
