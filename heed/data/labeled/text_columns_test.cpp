#include "heed/data/labeled/text_columns.h"

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

std::string columns_of(const std::vector<std::string>& written) {
  std::string all;
  for (const auto& column : read_text_columns(written)) all += column.name + " from " + joined(column.from) + "; ";
  return all;
}

TEST(TextColumns, HaveOneOrSeveralColumnsOfTheFile) {
  EXPECT_EQ(columns_of({"3"}), "text from 3; ");
  EXPECT_EQ(columns_of({"title+description"}), "text from title, description; ");
  EXPECT_EQ(columns_of({"premise", "hypothesis"}), "premise from premise; hypothesis from hypothesis; ");
}

TEST(TextColumns, MayHaveAnotherName) {
  EXPECT_EQ(columns_of({"left=2+3", "right=4"}), "left from 2, 3; right from 4; ");
  EXPECT_EQ(columns_of({"review=3"}), "review from 3; ");
}

TEST(TextColumns, AreRefusedWithoutAColumnOrWithTheSameName) {
  const auto message = [](const std::vector<std::string>& written) {
    return error_of([&] { read_text_columns(written); });
  };
  for (const std::string wrong : {"", "2+", "+2", "left=", "=2", "2++3"})
    EXPECT_TRUE(says(message({wrong}), {"got column '" + wrong + "', expected a name or a number"}));
  EXPECT_EQ(message({"left=2", "left=3"}),
            "data/examples: got the text 'left' twice, expected a name for each as in left=2, right=3");
  EXPECT_TRUE(says(message({}), {"got no column of text"}));
}

}  // namespace
}  // namespace heed::testing
