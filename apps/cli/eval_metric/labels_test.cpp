// Metrics of labels, one per line and several. Numbers are scikit-learn's for the same lists.

#include "apps/cli/eval_metric/testing_files.h"
#include <gtest/gtest.h>

namespace heed::cli {
namespace {

using namespace testing_files;

const Lines kGold{"0", "0", "1", "1", "2", "2", "2"}, kPredicted{"0", "1", "1", "1", "2", "0", "2"};

TEST(LabelsOfFiles, HaveTheScoresOfScikitLearn) {
  const auto found =
      json({"accuracy", "precision", "recall", "f1", "balanced_accuracy", "matthews"}, {kGold, kPredicted});
  EXPECT_NEAR(found["accuracy"]["score"].get<double>(), .71428571, 1e-8);
  EXPECT_EQ(found["accuracy"]["right"], 5);
  EXPECT_NEAR(found["precision"]["score"].get<double>(), .72222222, 1e-8);
  EXPECT_NEAR(found["recall"]["score"].get<double>(), .72222222, 1e-8);
  EXPECT_NEAR(found["f1"]["score"].get<double>(), .7, 1e-12);
  EXPECT_NEAR(found["f1"]["micro"].get<double>(), .71428571, 1e-8);
  EXPECT_NEAR(found["f1"]["classes"]["2"]["score"].get<double>(), .8, 1e-12);
  EXPECT_EQ(found["f1"]["classes"]["2"]["support"], 3);
  EXPECT_NEAR(found["balanced_accuracy"]["score"].get<double>(), .72222222, 1e-8);
  // n = 7, 5 hits, t = 2 2 3, p = 2 3 2: (35 - 16) / sqrt((49 - 17) (49 - 17)) = 19 / 32
  EXPECT_NEAR(found["matthews"]["score"].get<double>(), 19. / 32, 1e-12);
}

TEST(LabelsOfFiles, AverageAsAsked) {
  auto o = options({"f1"}, {kGold, kPredicted});
  o.average = "weighted";
  EXPECT_NEAR(score(o), (2 * .5 + 2 * .8 + 3 * .8) / 7, 1e-12);
  EXPECT_EQ(printed(o).substr(0, 20), "F1|average:weighted|");
}

// A class that another system predicts does not change the macro average of this one.
TEST(LabelsOfFiles, AverageOverTheClassesOfASystem) {
  Lines other = kPredicted;
  other[0] = "3";
  const auto found = json({"f1"}, {kGold, kPredicted, other})["systems"];
  EXPECT_NEAR(found[0]["f1"]["score"].get<double>(), .7, 1e-12);
  EXPECT_EQ(found[1]["f1"]["classes"].size(), 4U);
}

// {a b} for {a}, {b} for {b}, nothing for {c}: one example of three right, 2 wrong labels of 9.
TEST(LabelsOfFiles, TakeSeveralLabels) {
  const std::vector<Lines> files{{"a", "b", "c"}, {" b, a", "b", ""}};
  EXPECT_NEAR(score("subset_accuracy", files), 1. / 3, 1e-12);
  EXPECT_NEAR(score("hamming_loss", files), 2. / 9, 1e-12);
  EXPECT_NEAR(score("f1", files), (1 + 2. / 3 + 0) / 3, 1e-12);
  auto o = options({"hamming_loss"}, files);
  o.classes = 4;
  EXPECT_NEAR(score(o), 2. / 12, 1e-12);
  o.classes = 2;
  EXPECT_EQ(problem(o), "eval: got --classes 2, expected at least the 3 labels that occur in the files");
  o = options({"f1"}, files);
  o.average = "samples";
  EXPECT_NEAR(score(o), (2. / 3 + 1 + 0) / 3, 1e-12);
}

TEST(LabelsOfFiles, DefineOneClass) {
  EXPECT_DOUBLE_EQ(score("accuracy", {{"a", "a"}, {"a", "a"}}), 1);
  EXPECT_DOUBLE_EQ(score("matthews", {{"a", "a"}, {"a", "a"}}), 0);
  EXPECT_DOUBLE_EQ(score("f1", {{"a"}, {"b"}}), 0);
}

TEST(LabelsOfFiles, NameTheLineThatIsWrong) {
  EXPECT_EQ(problem({"accuracy"}, {{"a", "b"}, {"a", ""}}),
            "eval: a:2: got 0 labels, expected 1 for accuracy; precision, recall, f1, subset_accuracy and hamming_loss "
            "take any number");
  EXPECT_EQ(problem({"matthews"}, {{"a", "b,c"}, {"a", "b"}}).substr(0, 46),
            "eval: gold:2: got 2 labels, expected 1 for mat");
  EXPECT_EQ(problem({"f1"}, {{"a"}, {"a,,b"}}),
            "eval: a:1: got an empty label in 'a,,b', expected labels separated by single commas");
  EXPECT_EQ(problem({"f1"}, {{"a"}, {"a, a"}}),
            "eval: a:1: got the label 'a' twice, expected each label of an example once");
  EXPECT_EQ(problem({"f1"}, {{""}, {""}}),
            "eval: got no label in gold and a, expected one on each line, or several separated by commas");
  EXPECT_EQ(problem({"f1"}, {{"a"}, {std::string("a\0", 2)}}),
            "eval: a:1: got 'a\\x00', expected text without control characters; is it a binary file, or UTF-16?");
}

}  // namespace
}  // namespace heed::cli
