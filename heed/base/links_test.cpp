// Links by hand, against symal of Moses (fixtures/symmetrized.txt), and on the Hansards, if the data are available.

#include "heed/base/links.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed {
namespace {

std::string problem(const std::string& line, LinkNumbers numbers = {}) {
  try {
    parse_links(line, numbers);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Links, AreReadAndWrittenAsPharaohLines) {
  const Links links = parse_links(" 0-0  1-2 12p1\r");
  EXPECT_EQ(links, (Links{{0, 0}, {1, 2}, {12, 1, false}}));
  EXPECT_EQ(pharaoh(links), "0-0 1-2 12p1");
  EXPECT_EQ(parse_links(""), Links{});
  EXPECT_EQ(pharaoh({}), "");
}

TEST(Links, MayBeNumberedFromOneOrSwapped) {
  EXPECT_EQ(parse_links("1-2 3p1", {.from_one = true}), (Links{{0, 1}, {2, 0, false}}));
  EXPECT_EQ(parse_links("1-2", {.swapped = true}), (Links{{2, 1}}));
  EXPECT_EQ(swapped(Links{{0, 1}, {2, 0, false}}), (Links{{1, 0}, {0, 2, false}}));
}

TEST(Links, SayWhatIsWrongWithALine) {
  for (const std::string bad : {"3_4", "3", "3-", "-3", "a-1", "1-1x", "1--1", "1-99999999999999999999", "1.5-2"})
    EXPECT_NE(problem("0-0 " + bad).find("'" + bad + "' is no link"), std::string::npos) << bad << ": " << problem(bad);
  EXPECT_NE(problem("1-1 0-2", {.from_one = true}).find("'0-2' has a word 0"), std::string::npos);
}

TEST(Symmetry, IsFoundByItsName) {
  for (const auto& word : symmetry_names()) EXPECT_NO_THROW(parse_symmetry(word)) << word;
  EXPECT_EQ(parse_symmetry("union"), Symmetry::either);
  EXPECT_EQ(parse_symmetry("grow-diag-final-and"), Symmetry::grow_diag_final_and);
  EXPECT_THROW(parse_symmetry("grow_dig"), Error);
}

std::string symmetry(const std::string& forward, const std::string& backward, Symmetry how) {
  return pharaoh(symmetrized(parse_links(forward), parse_links(backward), how));
}

// Both directions agree on 0-0. Its neighbor 1-1 covers new words, and then 1-2 covers target word 2. 4-4 and 4-3 have
// no neighbors: the first one visited, in forward, covers source word 4; target word 3 is left for `final`.
TEST(Symmetry, GrowsFromWhatBothDirectionsSay) {
  const std::string forward = "0-0 1-1 1-2 4-4", backward = "0-0 1-1 4-3";
  EXPECT_EQ(symmetry(forward, backward, Symmetry::forward), forward);
  EXPECT_EQ(symmetry(forward, backward, Symmetry::backward), backward);
  EXPECT_EQ(symmetry(forward, backward, Symmetry::intersection), "0-0 1-1");
  EXPECT_EQ(symmetry(forward, backward, Symmetry::either), "0-0 1-1 1-2 4-3 4-4");
  EXPECT_EQ(symmetry(forward, backward, Symmetry::grow_diag), "0-0 1-1 1-2");
  EXPECT_EQ(symmetry(forward, backward, Symmetry::grow_diag_final_and), "0-0 1-1 1-2 4-4");
  EXPECT_EQ(symmetry(forward, backward, Symmetry::grow_diag_final), "0-0 1-1 1-2 4-3 4-4");
}

// 0-1 and 1-0 are in one direction each, and 0-0 and 1-1 already cover their words.
TEST(Symmetry, LeavesWhatCoversNothingNew) {
  for (const auto how : {Symmetry::grow_diag, Symmetry::grow_diag_final, Symmetry::grow_diag_final_and})
    EXPECT_EQ(symmetry("0-0 1-1 0-1", "0-0 1-1 1-0", how), "0-0 1-1");
}

TEST(Symmetry, OfNothingIsNothing) {
  for (const auto& word : symmetry_names()) EXPECT_EQ(symmetry("", "", parse_symmetry(word)), "");
}

TEST(Symmetry, IsThatOfMoses) {
  std::ifstream file("heed/base/fixtures/symmetrized.txt");
  size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    std::vector<std::string> columns;
    std::istringstream rest(line + "|");
    for (std::string column; std::getline(rest, column, '|');) columns.push_back(column);
    ASSERT_EQ(columns.size(), 5U) << line;
    EXPECT_EQ(symmetry(columns[0], columns[1], Symmetry::grow_diag), columns[2]) << line;
    EXPECT_EQ(symmetry(columns[0], columns[1], Symmetry::grow_diag_final), columns[3]) << line;
    EXPECT_EQ(symmetry(columns[0], columns[1], Symmetry::grow_diag_final_and), columns[4]) << line;
  }
  EXPECT_EQ(count, 40U);
}

std::vector<Links> hansards(const std::string& output, LinkNumbers numbers = {}) {
  const char* given = std::getenv("HEED_DATA");
  std::ifstream file(std::string(given != nullptr ? given : "../shared/data") + "/align-enfr-hansards/outputs/enfr." +
                     output + ".talp");
  std::vector<Links> all;
  for (std::string line; std::getline(file, line);) {
    all.push_back(parse_links(line, numbers));
    std::sort(all.back().begin(), all.back().end());
  }
  return all;
}

// The grow-diagonal of the data set requires two new words where Moses requires one, so it is not compared.
TEST(Symmetry, CombinesTheHansardsAsTheirOwnersDid) {
  for (const std::string system : {"fastalign", "giza"}) {
    const auto forward = hansards(system + ".forward"), backward = hansards(system + ".reverse", {.swapped = true});
    if (forward.empty()) GTEST_SKIP() << "align-enfr-hansards is not there; HEED_DATA names the folder of data";
    const auto intersection = hansards(system + ".intersection"), either = hansards(system + ".union");
    ASSERT_EQ(forward.size(), 447U);
    for (size_t i = 0; i < forward.size(); ++i) {
      EXPECT_EQ(symmetrized(forward[i], backward[i], Symmetry::intersection), intersection.at(i)) << system << i;
      EXPECT_EQ(symmetrized(forward[i], backward[i], Symmetry::either), either.at(i)) << system << i;
    }
  }
}

TEST(StrongestLinks, GoToTheGreatestWeightTheFirstOfEquals) {
  EXPECT_EQ(pharaoh(strongest_links({{0.1, 0.7, 0.2}, {0.4, 0.2, 0.4}, {0, 0, 1}})), "0-1 1-0 2-2");
}

TEST(StrongestLinks, AreLeftOutBelowTheThreshold) {
  EXPECT_EQ(pharaoh(strongest_links({{0.5, 0.5}, {0.4, 0.6}}, 0.5)), "1-1");
  EXPECT_EQ(pharaoh(strongest_links({{0, 0}, {}, {1, 0}})), "0-2");  // a row of zeros has no link
}

TEST(StrongestLinks, RefuseNan) {
  EXPECT_THROW(strongest_links({{0.5, 0.5}, {0.1, std::nan("")}}), Error);
  EXPECT_THROW(mutual_links({{std::nan("")}}), Error);
}

TEST(Links, KnowWhetherTheyHaveAWordZero) {
  EXPECT_TRUE(has_word_zero({parse_links("1-1"), parse_links("3-0")}));
  EXPECT_TRUE(has_word_zero({parse_links("0p4")}));
  EXPECT_FALSE(has_word_zero({parse_links("1-1 2p1"), {}}));
}

TEST(Links, LoseThoseBeyondTheSentences) {
  Links links = parse_links("0-0 2-1 3-1 1-4 1p3");
  EXPECT_EQ(remove_out_of_range(links, 3, 4), 2);
  EXPECT_EQ(pharaoh(links), "0-0 2-1 1p3");
  EXPECT_EQ(remove_out_of_range(links, 0, 4), 3);
}

// Source: words 0 0 1 and an end; target: words 0 1 1 and an end.
//   word 0: (.1 + .2, .3);   word 1: the mean of (.5 + .1, .2) and (.1 + .1, .8) = (.4, .5)
TEST(MergedToWords, SumsOverSourcePiecesAndAveragesOverTargetPieces) {
  const auto words = merged_to_words({{.1, .2, .3, .4}, {.5, .1, .2, .2}, {.1, .1, .8, 0}, {0, 0, 0, 1}}, {0, 0, 1, -1},
                                     {0, 1, 1, -1});
  ASSERT_EQ(words.size(), 2U);
  ASSERT_EQ(words[0].size(), 2U);
  EXPECT_DOUBLE_EQ(words[0][0], .3);
  EXPECT_DOUBLE_EQ(words[0][1], .3);
  EXPECT_DOUBLE_EQ(words[1][0], .4);
  EXPECT_DOUBLE_EQ(words[1][1], .5);
}

TEST(MergedToWords, RefusesWeightsOfOtherSizes) {
  EXPECT_THROW(merged_to_words({{1.0, 0.0}}, {0}, {0}), Error);
  EXPECT_THROW(merged_to_words({{1.0}}, {0}, {0, 1}), Error);
  EXPECT_TRUE(merged_to_words({}, {}, {}).empty());
}

// Forward prefers source 0 for both targets; backward takes source 0 to target 1 alone, so target 0 gets source 1.
TEST(Agreement, MultipliesTheWeightsOfBothDirections) {
  const WeightRows both = agreement({{0.6, 0.4}, {0.9, 0.1}}, {{0.1, 0.9}, {0.8, 0.2}});
  EXPECT_DOUBLE_EQ(both[0][0], 0.6 * 0.1);
  EXPECT_DOUBLE_EQ(both[0][1], 0.4 * 0.8);
  EXPECT_DOUBLE_EQ(both[1][0], 0.9 * 0.9);
  EXPECT_EQ(pharaoh(strongest_links(both)), "0-1 1-0");
}

TEST(Agreement, RefusesWeightsOfDifferentSentences) {
  EXPECT_THROW(agreement({{0.5, 0.5}}, {{1.0}}), Error);
  EXPECT_THROW(agreement({{0.5, 0.5}}, {{1.0, 0.0}, {0.0, 1.0}}), Error);
}

TEST(MutualLinks, AreThoseThatBothWordsPrefer) {
  EXPECT_EQ(pharaoh(mutual_links({{0.6, 0.4}, {0.9, 0.1}})),
            "0-1");  // source 0 prefers target 1; no target prefers source 1
  EXPECT_EQ(pharaoh(mutual_links({{0.5, 0.2}, {0.5, 0.1}})), "0-0");  // the first on ties
  EXPECT_TRUE(mutual_links({}).empty());
}

}  // namespace
}  // namespace heed
