// AER on examples computed by hand, and on the Hansards if the data are in the folder HEED_DATA.

#include "heed/metrics/alignment_error.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed {
namespace {

AlignmentError of(const std::string& links, const std::string& gold) {
  return alignment_error({parse_links(links)}, {parse_links(gold)});
}

// A & S = {0-0}, A & P = {0-0, 2-1}: 1 - (1 + 2) / (3 + 2)
TEST(AlignmentError, WeighsSureAndPossibleLinks) {
  const auto found = of("0-0 1-1 2-1", "0-0 1-2 2p1");
  EXPECT_NEAR(found.error, .4, 1e-15);
  EXPECT_NEAR(found.precision, 2.0 / 3, 1e-15);
  EXPECT_NEAR(found.recall, .5, 1e-15);
}

TEST(AlignmentError, IsThatOfNltkWhereAllGoldIsSure) {
  EXPECT_NEAR(of("0-0 1-2 2-1", "0-0 1-1 2-2").error, .66666667, 5e-9);
}

TEST(AlignmentError, IsSummedOverTheCorpus) {
  const auto found = alignment_error({parse_links("0-0"), parse_links("0-0 1-1 2-2")},
                                     {parse_links("0-1"), parse_links("0-0 1-1 2-2")});
  EXPECT_NEAR(found.error, 1 - 6.0 / 8, 1e-15);  // 0 of 1 and 3 of 3, not the mean of 1 and 0
}

TEST(AlignmentError, CountsLinksOnceAndTakesSureOnesForPossible) {
  EXPECT_EQ(of("0-0 0-0", "0-0 0p0").error, 0);
  EXPECT_EQ(of("0-0 0-0", "0-0").links, 1);
}

TEST(AlignmentError, IsZeroWithoutLinks) {
  EXPECT_EQ(of("", "").error, 0);
  EXPECT_EQ(of("", "0-0").error, 1);
  EXPECT_EQ(alignment_error({}, {}).error, 0);
}

TEST(AlignmentError, RefusesPairsWithoutGold) {
  EXPECT_THROW(alignment_error({{}, {}}, {{}}), Error);
}

std::vector<Links> hansards(const std::string& name, LinkNumbers numbers) {
  const char* given = std::getenv("HEED_DATA");
  std::ifstream file(std::string(given != nullptr ? given : "../shared/data") + "/align-enfr-hansards/" + name);
  std::vector<Links> all;
  for (std::string line; std::getline(file, line);) all.push_back(parse_links(line, numbers));
  return all;
}

struct Expected {
  const char* output;
  double error, precision, recall;  // %
  int digits = 1;
};
const std::array kExpected{Expected{"awesome-align.out", 4.07, 96.27, 95.42, 2},
                           Expected{"fastalign.forward.talp", 16.4, 80.0, 90.1},
                           Expected{"fastalign.reverse.talp", 15.9, 81.3, 88.7},
                           Expected{"fastalign.grow-diagonal.talp", 10.5, 90.8, 87.8},
                           Expected{"fastalign.grow-diagonal-final.talp", 12.1, 87.7, 88.3},
                           Expected{"fastalign.intersection.talp", 11.2, 92.4, 84.5},
                           Expected{"fastalign.union.talp", 19.5, 74.4, 94.4},
                           Expected{"giza.forward.talp", 8.0, 91.4, 92.9},
                           Expected{"giza.reverse.talp", 9.8, 91.6, 88.3},
                           Expected{"giza.grow-diagonal.talp", 5.9, 97.5, 89.7},
                           Expected{"giza.grow-diagonal-final.talp", 6.2, 95.5, 91.6},
                           Expected{"giza.intersection.talp", 7.6, 98.4, 85.6},
                           Expected{"giza.union.talp", 9.9, 87.1, 95.5}};

TEST(AlignmentError, IsThatOfThirteenSystemsOnTheHansards) {
  const auto gold = hansards("enfr.gold", {.from_one = true});
  if (gold.empty()) GTEST_SKIP() << "align-enfr-hansards is not there; HEED_DATA names the folder of data";
  for (const auto& expected : kExpected) {
    SCOPED_TRACE(expected.output);
    const bool swapped = std::string(expected.output).find("reverse") != std::string::npos;
    const auto found =
        alignment_error(hansards(std::string("outputs/enfr.") + expected.output, {.swapped = swapped}), gold);
    const double scale = std::pow(10, expected.digits);
    const auto percent = [scale](double share) { return std::round(100 * share * scale) / scale; };
    EXPECT_DOUBLE_EQ(percent(found.error), expected.error);
    EXPECT_DOUBLE_EQ(percent(found.precision), expected.precision);
    EXPECT_DOUBLE_EQ(percent(found.recall), expected.recall);
    EXPECT_EQ(found.sure, 4038);
    EXPECT_EQ(found.possible, 17438);
  }
}

}  // namespace
}  // namespace heed
