#include "apps/cli/table.h"

#include <sstream>

#include <gtest/gtest.h>

namespace heed::cli {
namespace {

const Table kTable{{"run", "BLEU"}, {false, true}, {{"汤姆", "9.50"}, {"additive", "98.76"}}};

std::string printed(const Table& table, int columns) {
  std::ostringstream out;
  print_table(out, table, columns);
  return out.str();
}

TEST(Table, AlignsColumnsInAnyScript) {
  EXPECT_EQ(printed(kTable, 0),
            "run        BLEU\n"
            "汤姆       9.50\n"
            "additive  98.76\n");
}

TEST(Table, PrintsBlocksIfItDoesNotFit) {
  EXPECT_EQ(printed(kTable, 15), printed(kTable, 0));
  EXPECT_EQ(printed(kTable, 14),
            "汤姆\n"
            "  BLEU  9.50\n"
            "\n"
            "additive\n"
            "  BLEU  98.76\n");
}

TEST(Table, PrintsMarkdown) {
  std::ostringstream out;
  print_table_markdown(out, {{"run", "BLEU"}, {false, true}, {{"a|b", "1"}}});
  EXPECT_EQ(out.str(), "| run | BLEU |\n|---|---:|\n| a\\|b | 1 |\n");
}

TEST(Table, HasNoHtmlInMarkdown) {
  EXPECT_EQ(markdown_cell("<img src=x onerror=alert(1)> &amp; a|b"), "&lt;img src=x onerror=alert(1)> &amp;amp; a\\|b");
  EXPECT_EQ(markdown_code("a < b && c | d"), "`a < b && c | d`");
  EXPECT_EQ(markdown_code("`<b>` ``"), "``` `<b>` `` ```");
}

}  // namespace
}  // namespace heed::cli
