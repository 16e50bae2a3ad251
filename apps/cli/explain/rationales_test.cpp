#include "apps/cli/explain/rationales.h"

#include <gtest/gtest.h>

#include "heed/data/testing.h"

namespace heed::cli {
namespace {

using testing::error_of;
using testing::says;
using Weights = std::vector<std::vector<double>>;

const std::vector<RationaleText> kTexts{{"dev.tsv:1", {"the", "soup", "was", "cold"}},
                                        {"dev.tsv:2", {"we", "loved", "it", "!"}}};

TEST(Rationales, AreFoundByIdOrLine) {
  EXPECT_EQ(
      rationales_of({.texts = {{.id = "dev.tsv:2", .weights = {0, 1, 0, 0}}}, .has_text = false}, kTexts, "g").weights,
      (Weights{{}, {0, 1, 0, 0}}));
  const Rationales found = rationales_of(
      {.texts = {{.id = "7", .weights = {1}}, {.id = "1", .weights = {0, 0, 0, 1}}}, .has_text = false}, kTexts, "g");
  EXPECT_EQ(found.weights, (Weights{{0, 0, 0, 1}, {}}));
  EXPECT_EQ(found.found, 1);
  EXPECT_EQ(found.missing, 1);
}

TEST(Rationales, OfBuiltInTextsAreFoundByNumber) {
  const std::vector<RationaleText> texts{{"built-in review 4 of dev", {"good"}}};
  EXPECT_EQ(rationales_of({.texts = {{.id = "4", .weights = {1}}}, .has_text = false}, texts, "g").weights,
            (Weights{{1}}));
}

TEST(Rationales, WithTextsAreFoundByTheirWords) {
  const Rationales found = rationales_of(
      {.texts = {{.id = "1", .text = "We loved it !", .weights = {0, 1, 0, 0}}}, .has_text = true}, kTexts, "g");
  EXPECT_EQ(found.weights, (Weights{{}, {0, 1, 0, 0}}));
}

TEST(Rationales, AboveABoundAreOnes) {
  EXPECT_EQ(
      rationales_of({.texts = {{.id = "1", .weights = {0.5, 2, -1, 1}}}, .has_text = false}, kTexts, "g", 0.5).weights,
      (Weights{{0, 1, 0, 1}, {}}));
}

TEST(Rationales, ThatDoNotFitAreRefused) {
  EXPECT_TRUE(says(error_of([] {
                     rationales_of({.texts = {{.id = "1", .weights = {0, 1}, .where = "g.tsv:4"}}, .has_text = false},
                                   kTexts, "g.tsv");
                   }),
                   {"g.tsv:4: got 2 gold weights for the 4 words of the text 'dev.tsv:1'", "--id-column"}));
  EXPECT_TRUE(says(error_of([] {
                     rationales_of({.texts = {{.id = "9", .weights = {0, 1}}}, .has_text = false}, kTexts, "g.tsv");
                   }),
                   {"g.tsv: got none of its 1 texts in the 2 that are explained", "--set"}));
}

TEST(Rationales, OfTextsThatAreThereTwiceAreFoundById) {
  const std::vector<RationaleText> same{{"a", {"soup"}}, {"b", {"soup"}}};
  const Rationales found = rationales_of(
      {.texts = {{.id = "b", .text = "soup", .weights = {1}}, {.id = "c", .text = "soup", .weights = {1}}},
       .has_text = true},
      same, "g");
  EXPECT_EQ(found.weights, (Weights{{}, {1}}));
  EXPECT_EQ(found.missing, 1);
}

}  // namespace
}  // namespace heed::cli
