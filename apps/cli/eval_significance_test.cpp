// Intervals and tests of heed eval on files.

#include "apps/cli/eval_significance.h"

#include <cmath>

#include "apps/cli/eval_metric/testing_files.h"
#include <gtest/gtest.h>

namespace heed::cli {
namespace {

using namespace testing_files;

/// Lines of 40 labels of which the first `right` are those of the reference.
Lines labels(int right) {
  Lines all;
  for (int i = 0; i < 40; ++i) all.push_back(i < right ? std::to_string(i % 2) : std::to_string(1 - i % 2));
  return all;
}

EvalFilesOptions compared(const std::vector<std::string>& metrics, const std::vector<Lines>& files,
                          const std::string& paired = "") {
  auto o = options(metrics, files);
  o.significance.intervals = true;
  o.significance.paired = paired;
  return o;
}

// A share of 30 of 40 has the deviation sqrt(.75 .25 / 40) = .0685.
TEST(SignificanceOfFiles, HasTheIntervalOfAShare) {
  const auto found = json(compared({"accuracy", "matthews"}, {labels(40), labels(30)}));
  const auto interval = found["accuracy"]["interval"];
  EXPECT_NEAR(interval["mean"].get<double>(), .75, .01);
  EXPECT_NEAR(interval["low"].get<double>(), .75 - 1.96 * .0685, .03);
  EXPECT_NEAR(interval["high"].get<double>(), .75 + 1.96 * .0685, .03);
  EXPECT_LT(found["matthews"]["interval"]["low"].get<double>(), found["matthews"]["score"].get<double>());
  EXPECT_EQ(found["significance"]["samples"], 1000);
  EXPECT_EQ(found["provenance"]["seeds"][0], 1);
}

TEST(SignificanceOfFiles, DependsOnTheSeedAlone) {
  auto o = compared({"f1"}, {labels(40), labels(30), labels(20)}, "randomization");
  const auto once = json(o)["systems"], again = json(o)["systems"];
  EXPECT_EQ(once, again);
  o.significance.resampling.seed = 2;
  EXPECT_NE(json(o)["systems"], once);
}

// 38 against 12 of 40 right is no chance; a system against itself is.
TEST(SignificanceOfFiles, ComparesEverySystemWithTheFirst) {
  for (const std::string test : {"bootstrap", "randomization"}) {
    const auto found = json(compared({"accuracy"}, {labels(40), labels(38), labels(12), labels(38)}, test))["systems"];
    ASSERT_EQ(found.size(), 3U);
    EXPECT_FALSE(found[0]["accuracy"].contains("comparison"));
    const auto worse = found[1]["accuracy"]["comparison"], same = found[2]["accuracy"]["comparison"];
    EXPECT_NEAR(worse["difference"].get<double>(), -26. / 40, 1e-12);
    EXPECT_LT(worse["p"].get<double>(), .01);
    EXPECT_NEAR(worse["p_holm"].get<double>(), 2 * worse["p"].get<double>(), 1e-12);
    EXPECT_DOUBLE_EQ(same["p"].get<double>(), 1);
    EXPECT_EQ(worse.contains("interval"), test == "bootstrap");
  }
}

TEST(SignificanceOfFiles, PrintsATableAndItsOrigin) {
  const std::string text =
      printed(compared({"accuracy"}, {labels(40), labels(38), labels(12), labels(30)}, "bootstrap"));
  for (const std::string part :
       {"accuracy|version:", "system  accuracy", "interval", "difference", "p (Holm)", "-0.6500",
        "interval: 95 %, bootstrap, 1000 samples of 40 examples, seed 1", "p: paired bootstrap against a, ",
        "p (Holm): after Holm's correction for 2 comparisons", "command", "data (md5)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  EXPECT_EQ(printed(compared({"accuracy"}, {labels(40), labels(38), labels(12)}, "bootstrap")).find("Holm"),
            std::string::npos);
}

TEST(SignificanceOfFiles, CountsSamplesWithoutAScore) {
  const auto found = json(compared({"pearson"}, {{"1", "2"}, {"1", "2"}}))["pearson"]["interval"];
  EXPECT_NEAR(found["undefined_samples"].get<double>(), 500, 80);  // both items are the same in half of the samples
  EXPECT_DOUBLE_EQ(found["low"].get<double>(), 1);
  const auto constant = json(compared({"pearson"}, {{"1", "2"}, {"3", "3"}}))["pearson"];
  EXPECT_TRUE(constant["score"].is_null());
  EXPECT_TRUE(constant["interval"]["low"].is_null());
}

/// Files for every metric of lines.
std::vector<Lines> files_of(const std::string& kind) {
  if (kind == "texts")
    return {{"the cat sat", "a dog", "on it"}, {"the cat sat", "a cat", "it"}, {"the", "a dog", "on"}};
  if (kind == "labels") return {{"a", "b", "a"}, {"a", "a", "a"}, {"b", "b", "a"}};
  if (kind == "numbers") return {{"1", "2", "4"}, {"1", "3", "4"}, {"2", "2", "5"}};
  if (kind == "boxes") return {{"0 0 2 2", "0 0 1 1"}, {"0 0 2 1", "0 0 1 1"}, {"1 1 2 2", "0 0 2 1"}};
  if (kind == "rankings") return {{"p\ta", "q\tb"}, {"p\ta b", "q\ta b"}, {"p\tb a", "q\tb"}};
  if (kind == "links") return {{"0-0 1-1", "0-1"}, {"0-0", "0-1"}, {"0-0 1p1", "0-0"}};
  return {};
}

// Scores of what is resampled are those that are printed, for every metric.
TEST(SignificanceOfFiles, ResamplesTheScoreOfEveryMetric) {
  size_t metrics = 0;
  for (const auto& name : FileMetric::names()) {
    const auto& metric = FileMetric::find(name);
    const auto files = files_of(metric.kind());
    if (files.empty()) continue;  // images: images_test.cpp
    ++metrics;
    const auto o = options({name}, files);
    FileReader reader(o.read);
    const auto read = metric.read(o, reader);
    const Measured measured = metric.measure(read, o);
    const Resampled outputs = measured.resampled();
    EXPECT_EQ(outputs.items, measured.items) << name;
    const auto scores = scores_of(outputs);
    ASSERT_EQ(scores.size(), 2U) << name;
    for (size_t system = 0; system < 2; ++system)
      EXPECT_NEAR(scores[system], measured.figures[system].score, 1e-12) << name;
    EXPECT_EQ(measured.figures[0].key, name);
    EXPECT_NE(json(compared({name}, files, "bootstrap"))["systems"][1][name]["comparison"]["p"].get<double>(), 0)
        << name;
  }
  EXPECT_GE(metrics, 26U);
}

TEST(SignificanceOfFiles, RefusesWhatHasNoMeaning) {
  EXPECT_EQ(problem(compared({"mse"}, {{"1"}, {"2"}})),
            "eval: mse: got 1, expected at least 2 numbers to draw samples from; leave out --intervals and --paired");
  EXPECT_EQ(problem(compared({"mse"}, {{"1", "2"}, {"2", "3"}}, "bootstrap")),
            "eval: got --paired bootstrap and one system, expected several: --hypothesis baseline.txt other.txt");
  EXPECT_EQ(problem(compared({"mse"}, {{"1", "2"}, {"2", "3"}, {"2", "3"}}, "t")),
            "eval: got --paired t, expected bootstrap or randomization");
  EXPECT_EQ(
      problem({"mse", "accuracy"}, {{"1"}, {"1"}}),
      "eval: got the metrics mse, of numbers, and accuracy, of labels, expected metrics of one kind of files; call "
      "heed eval for each kind");
  auto o = compared({"bleu"}, {{"a"}, {"a"}});
  o.links = o.gold_links = "a";
  EXPECT_EQ(problem(o),
            "eval: got --intervals with --links, expected --metrics; for links: --metrics aer --hypothesis LINKS "
            "--reference GOLD");
}

}  // namespace
}  // namespace heed::cli
