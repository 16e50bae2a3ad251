#include "heed/data/labeled/label_column.h"

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

std::string label(const std::string& written, const std::string& field) {
  return label_of(read_label_column(written), field, "a.tsv:7");
}

TEST(LabelColumn, IsANameOrANumber) {
  EXPECT_EQ(read_label_column("label").from, "label");
  EXPECT_EQ(read_label_column("mean").from, "mean");
  EXPECT_EQ(label("3", " very  bad "), "very bad");
  EXPECT_EQ(label("3", ""), "");
}

TEST(LabelColumn, MayBeTheMeanOfItsNumbers) {
  const LabelColumn column = read_label_column("mean(mask)");
  EXPECT_EQ(column.from, "mask");
  EXPECT_TRUE(column.mean);
  EXPECT_EQ(label("mean(3)", "0 0 1 0"), "0.25");
  EXPECT_EQ(label("mean(3)", " 1  -2.5e1 "), "-12");
  EXPECT_EQ(label("mean(3)", "0"), "0");
}

TEST(LabelColumn, RefusesAMeanOfWhatIsNoNumber) {
  const auto message = [](const std::string& field) { return error_of([&] { label("mean(3)", field); }); };
  EXPECT_EQ(message("0 x 1"),
            "data/examples: a.tsv:7: got 'x' in the label, expected numbers separated by blanks, whose mean is taken");
  for (const std::string wrong : {".inf", ".nan", "1,2"}) EXPECT_TRUE(says(message("0 " + wrong), {"got '" + wrong}));
  EXPECT_TRUE(says(message(" "), {"a.tsv:7: got an empty label"}));
  EXPECT_TRUE(says(error_of([] { read_label_column("mean()"); }), {"got label 'mean()'", "mean(3)"}));
}

}  // namespace
}  // namespace heed::testing
