#include "heed/data/labeled/label_map.h"

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

using Names = std::vector<std::string>;

TEST(LabelMap, JoinsLabelsToClasses) {
  const LabelMap map({"negative: 0 1", "positive:  3 4 "}, {"2"});
  EXPECT_EQ(map.classes(), (Names{"negative", "positive"}));
  EXPECT_EQ(map.class_of("1", ""), "negative");
  EXPECT_EQ(map.class_of("3", ""), "positive");
  EXPECT_TRUE(map.is_ignored("2"));
  EXPECT_FALSE(map.is_ignored("1"));
  EXPECT_FALSE(map.is_ignored("5"));
}

TEST(LabelMap, TakesANameAloneForItsLabel) {
  const LabelMap map({"Sci/Tech", "the rest: 1 2", "New York"}, {});
  EXPECT_EQ(map.class_of("Sci/Tech", ""), "Sci/Tech");
  EXPECT_EQ(map.class_of("New York", ""), "New York");
  EXPECT_EQ(map.class_of("2", ""), "the rest");
}

TEST(LabelMap, TakesEveryLabelForAClassIfNoneIsGiven) {
  const LabelMap map({}, {"2"});
  EXPECT_EQ(map.class_of("7", ""), "7");
  EXPECT_TRUE(map.is_ignored("2"));
  EXPECT_TRUE(map.classes().empty());
}

TEST(LabelMap, RefusesALabelWithoutAClass) {
  const LabelMap map({"bad: low", "good: high"}, {"none"});
  EXPECT_EQ(error_of([&] { map.class_of("hihg", "train.tsv:7"); }),
            "train.tsv:7: got label 'hihg', expected one of low, high (did you mean 'high'?); give it a class, or "
            "leave its examples out (ignore_labels)");
}

TEST(LabelMap, RefusesClassesThatContradictEachOther) {
  const auto message = [](const Names& classes, const Names& ignored = {}) {
    return error_of([&] { LabelMap(classes, ignored); });
  };
  EXPECT_EQ(message({"a: 0 1", "b: 1"}),
            "data/labels: got label '1' in the classes a and b, expected it in one of them");
  EXPECT_TRUE(says(message({"a: 0", "b: 1"}, {"1"}), {"label '1' in the class b and among the ignored labels"}));
  EXPECT_TRUE(says(message({"a: 0", "a: 1"}), {"got class 'a' twice"}));
  EXPECT_TRUE(says(message({"a: 0"}), {"got the class 'a' alone, expected at least two"}));
  EXPECT_TRUE(says(message({"a: 0", "b:"}), {"got class 'b:', expected its name and its labels"}));
  EXPECT_TRUE(says(message({"a: 0", ": 1"}), {"got class ': 1', expected its name"}));
  EXPECT_TRUE(says(message({"a: 0", ""}), {"got class '', expected its name"}));
}

}  // namespace
}  // namespace heed::testing
