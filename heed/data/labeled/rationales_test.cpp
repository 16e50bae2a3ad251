// Rationales: columns that records may lack, tables joined by id, and what is refused.

#include "heed/data/labeled/rationales.h"

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/data/labeled/labeled_corpus.h"
#include "heed/data/recipe.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

using Weights = std::vector<double>;

class RationaleFiles : public FolderTest {
 protected:
  Examples train(const std::string& keys) const {
    const Settings recipe =
        parse_recipe("root: " + folder_ + "\nlabel: 2\ntext: 3\ndev: plain.tsv\n" + keys + "\n", "test", {});
    const LabeledOptions options = read_labeled_options(recipe);
    recipe.refuse_unread();
    return read_labeled_corpus(options).train;
  }
  std::string said(const std::string& keys) const {
    return error_of([&] { train(keys); });
  }

  void SetUp() override {
    write("plain.tsv", "7\tgood\ta b\n8\tbad\tc\n");
    write("marked.tsv", "1\tgood\ta b c\t0 1 0.5\n2\tbad\td\t\n");
  }
};

TEST_F(RationaleFiles, AreAColumnThatRecordsMayLack) {
  const Examples examples = train("train: [plain.tsv, marked.tsv]\ntrain_rationales: 4");
  ASSERT_EQ(examples.rationales.size(), 4U);
  EXPECT_TRUE(examples.rationales[0].weights.empty());
  EXPECT_EQ(examples.rationales[2].weights, (Weights{0, 1, 0.5}));
  EXPECT_EQ(examples.rationales[2].origin, path("marked.tsv") + ":1");
  EXPECT_TRUE(examples.rationales[3].weights.empty());
  EXPECT_TRUE(train("train: marked.tsv").rationales.empty());
}

TEST_F(RationaleFiles, AreJoinedByIds) {
  write("gold.tsv", "9\tnobody\t1\n7\tsomebody\t0 1\n");
  const Examples examples = train("train: [plain.tsv, marked.tsv]\nid: 1\ntrain_rationales: gold.tsv");
  EXPECT_EQ(examples.rationales[0].weights, (Weights{0, 1}));
  EXPECT_EQ(examples.rationales[0].origin, path("gold.tsv") + ":2");
  EXPECT_TRUE(examples.rationales[1].weights.empty());
}

TEST_F(RationaleFiles, AreRefusedWithFileAndLine) {
  write("gold.tsv", "7\t0 x\n");
  EXPECT_EQ(said("train: plain.tsv\nid: 1\ntrain_rationales: gold.tsv"),
            "data/rationales: " + path("gold.tsv") +
                ":1: got the weight 'x', expected numbers of at least 0, one for each word of the text");
  write("gold.tsv", "7\t0 -1\n");
  EXPECT_NE(said("train: plain.tsv\nid: 1\ntrain_rationales: gold.tsv").find("the weight '-1'"), std::string::npos);
  write("gold.tsv", "7\t0 1\n7\t0 1\n");
  EXPECT_NE(said("train: plain.tsv\nid: 1\ntrain_rationales: gold.tsv").find(":2: got the id '7' again"),
            std::string::npos);
  write("gold.tsv", "99\t0 1\n");
  EXPECT_NE(said("train: plain.tsv\nid: 1\ntrain_rationales: gold.tsv").find("none of the ids"), std::string::npos);
  EXPECT_NE(said("train: plain.tsv\ntrain_rationales: gold.tsv").find("without data.id"), std::string::npos);
  EXPECT_NE(said("train: plain.tsv\ntrain_rationales: 4").find("no rationale in column 4"), std::string::npos);
}

TEST(Rationales, OfBuiltInReviewsAreTheirRelevantWords) {
  const Settings recipe = parse_recipe("{train: reviews, reviews: {train: 4, dev: 2, test: 2}}", "test", {});
  const Examples examples = read_labeled_corpus(read_labeled_options(recipe)).train;
  ASSERT_EQ(examples.rationales.size(), 4U);
  for (size_t i = 0; i < examples.size(); ++i)
    EXPECT_EQ(examples.rationales[i].weights, Weights(examples.relevant[i].begin(), examples.relevant[i].end()));
}

}  // namespace
}  // namespace heed::testing
