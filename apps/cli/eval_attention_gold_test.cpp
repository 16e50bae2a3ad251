#include "apps/cli/eval_attention_gold.h"

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/data/file.h"
#include "heed/train/run/testing_folder.h"

namespace heed::cli {
namespace {

class GoldOfAttention : public ::testing::Test {
 protected:
  GoldTableOptions options(const std::string& content, bool word_rows) const {
    write_atomically(folder_.path("gold.tsv"), content);
    GoldTableOptions o;
    o.file = folder_.path("gold.tsv");
    o.text_column = "2";
    o.word_rows = word_rows;
    return o;
  }
  /// The message, from the name of the file; it names no command, since several read these tables.
  std::string refusal(const std::string& content, bool word_rows = false) const {
    try {
      read_gold_weights(options(content, word_rows));
    } catch (const Error& error) {
      const std::string message = error.what(), folder = folder_.path("");
      return message.starts_with(folder) ? message.substr(folder.size()) : message;
    }
    return "no refusal";
  }
  std::string at_record(const std::string& line) const { return folder_.path("gold.tsv") + ":" + line; }

 private:
  testing::Folder folder_;
};

TEST_F(GoldOfAttention, HasATextForEachId) {
  const auto gold = read_gold_weights(options("1\twe\t0\n1\tloved\t1\n2\tsoup\t1\n", true));
  ASSERT_EQ(gold.texts.size(), 2U);
  EXPECT_EQ(gold.texts[0].text, "we loved");
  EXPECT_EQ(gold.texts[0].weights, (std::vector<double>{0, 1}));
  EXPECT_EQ(gold.texts[1].where, at_record("3"));
}

TEST_F(GoldOfAttention, RefusesAnIdThatReturns) {
  EXPECT_EQ(refusal("1\twe loved it\t0 1 0\n2\tsoup\t1\n1\tsoup\t0\n"),
            "gold.tsv:3: got the id '1' again, after " + at_record("1") +
                ", expected each once; a table of a word in each record needs --word-rows, or choose the column of ids "
                "by --id-column");
  EXPECT_EQ(refusal("1\twe\t0\n2\tsoup\t1\n1\tloved\t1\n", true),
            "gold.tsv:3: got the id '1' again, after " + at_record("1") +
                ", expected the words of a text one after another; sort the records by id, or choose the column of ids "
                "by --id-column");
}

TEST_F(GoldOfAttention, RefusesWhatIsNoWeight) {
  EXPECT_EQ(refusal("1\twe loved it\t0 x 0\n"),
            "gold.tsv:1: got the gold weight 'x', expected finite numbers, separated by blanks; choose their column by "
            "--gold-column");
  EXPECT_EQ(refusal("1\twe loved it\t0 1\n"),
            "gold.tsv:1: got 2 gold weights for 3 words, expected one for each; words are separated by blanks");
}

}  // namespace
}  // namespace heed::cli
