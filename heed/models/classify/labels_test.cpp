#include "heed/models/classify/labels.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

std::vector<std::string> origins(size_t count) {
  std::vector<std::string> all;
  for (size_t i = 0; i < count; ++i) all.push_back("train.tsv:" + std::to_string(i + 1));
  return all;
}

LabelSet learned(LabelForm form, const std::vector<std::string>& written, const std::vector<std::string>& order = {}) {
  return learned_labels(form, written, origins(written.size()), order);
}

TEST(LabelSet, SortsClassesByValueIfAllAreNumbers) {
  EXPECT_EQ(learned(LabelForm::one, {"10", "9", "10", "-1"}).names, (std::vector<std::string>{"-1", "9", "10"}));
  EXPECT_EQ(learned(LabelForm::one, {"b", "10", "a"}).names, (std::vector<std::string>{"10", "a", "b"}));
  EXPECT_EQ(learned(LabelForm::one, {"b", "a"}, {"b", "a"}).names, (std::vector<std::string>{"b", "a"}));
}

TEST(LabelSet, LearnsTheClassesInsideLabels) {
  EXPECT_EQ(learned(LabelForm::several, {"b, a", "", "c"}).names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(learned(LabelForm::tokens, {"O O B", "B I"}).names, (std::vector<std::string>{"B", "I", "O"}));
}

TEST(LabelSet, ScalesNumbersByTheirMeanAndDeviation) {
  const LabelSet labels = learned(LabelForm::number, {"1", "3", "1", "3"});  // mean 2, each one off by 1
  EXPECT_EQ(labels.mean, 2);
  EXPECT_EQ(labels.deviation, 1);
  EXPECT_EQ(parse_label(labels, "2.5", "x:1").number, 2.5);
}

TEST(LabelSet, RefusesWhatCannotBeLearned) {
  EXPECT_TRUE(says(error_of([] {
                     learned(LabelForm::one, {"a", "a"});
                   }),
                   {"got the label 'a' alone in 2 examples, expected at least 2 classes"}));
  EXPECT_TRUE(says(error_of([] {
                     learned(LabelForm::number, {"1", "one"});
                   }),
                   {"train.tsv:2: got the label 'one', expected a number"}));
  EXPECT_TRUE(says(error_of([] { learned(LabelForm::number, {"1", "1"}); }), {"expected numbers that differ"}));
  EXPECT_TRUE(says(error_of([] { learned(LabelForm::number, {"nan", "1"}); }), {"train.tsv:1"}));
  EXPECT_TRUE(says(error_of([] { learned(LabelForm::one, {}); }), {"got no examples"}));
}

TEST(Label, IsOneClassOrSeveralOrOneForEachWord) {
  const LabelSet one = learned(LabelForm::one, {"no", "yes"});
  EXPECT_EQ(parse_label(one, "yes", "x:1").classes, std::vector<int64_t>{1});
  const LabelSet several = learned(LabelForm::several, {"a,b,c"});
  EXPECT_EQ(parse_label(several, "c, a,c", "x:1").classes, (std::vector<int64_t>{0, 2}));
  EXPECT_TRUE(parse_label(several, "", "x:1").classes.empty());
  const LabelSet tokens = learned(LabelForm::tokens, {"0 1"});
  EXPECT_EQ(parse_label(tokens, "0  1 0", "x:1").classes, (std::vector<int64_t>{0, 1, 0}));
}

TEST(Label, OfAnUnknownClassIsRefusedWithItsOrigin) {
  const LabelSet labels = learned(LabelForm::one, {"negative", "positive"});
  EXPECT_TRUE(says(error_of([&] { parse_label(labels, "positiv", "dev.tsv:7"); }),
                   {"dev.tsv:7: got the label 'positiv'", "did you mean 'positive'?", "negative, positive"}));
}

TEST(LabelSet, IsKeptInARun) {
  for (const LabelForm form : {LabelForm::one, LabelForm::several, LabelForm::number, LabelForm::tokens}) {
    LabelSet labels = learned(form, {"1", "2"});
    labels.threshold = 0.25;
    const LabelSet read = LabelSet::parse(nlohmann::json::parse(labels.json().dump()), "config.json");
    EXPECT_EQ(read.form, form);
    EXPECT_EQ(read.names, labels.names);
    EXPECT_EQ(read.mean, labels.mean);
    EXPECT_EQ(read.deviation, labels.deviation);
    EXPECT_EQ(read.threshold, form == LabelForm::several ? 0.25 : 0.5);
  }
  for (const char* damaged : {"null", "{}", R"({"form": "one"})", R"({"form": "two", "names": []})"})
    EXPECT_TRUE(says(error_of([&] { LabelSet::parse(nlohmann::json::parse(damaged), "config.json"); }),
                     {"config.json", "damaged"}))
        << damaged;
}

}  // namespace
}  // namespace heed::testing
