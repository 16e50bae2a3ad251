#include "heed/data/labeled/table.h"

#include <zlib.h>

#include "heed/data/testing.h"

namespace heed::testing {
namespace {

using Records = std::vector<std::vector<std::string>>;

class TableFile : public FolderTest {
 protected:
  Table csv(const std::string& bytes, const TableOptions& options = {}) const {
    return read_table(write("a.csv", bytes), options);
  }
  Table tsv(const std::string& bytes, const TableOptions& options = {}) const {
    return read_table(write("a.tsv", bytes), options);
  }
  std::string refusal(const std::string& bytes, const std::string& name = "a.csv") const {
    return error_of([&] { read_table(write(name, bytes)); });
  }
};

TEST_F(TableFile, OfCommasHasFieldsInQuotes) {
  const auto table = csv("1,\"Hi, Tom\",x\r\n2,\"say \"\"no\"\"\",\"\"\r\n3,,\n");
  EXPECT_EQ(table.records, (Records{{"1", "Hi, Tom", "x"}, {"2", "say \"no\"", ""}, {"3", "", ""}}));
  EXPECT_EQ(table.where(2), path("a.csv") + ":3");
}

TEST_F(TableFile, OfCommasHasFieldsOfSeveralLines) {
  const auto table = csv("\"one\r\ntwo\n\n\"\"three\"\"\",a\nfour,b\n");
  EXPECT_EQ(table.records, (Records{{"one\ntwo\n\n\"three\"", "a"}, {"four", "b"}}));
  EXPECT_EQ(table.lines, (std::vector<int64_t>{1, 5}));
}

TEST_F(TableFile, OfCommasMayHaveQuotesInsideAFieldWithoutQuotes) {
  EXPECT_EQ(csv("a \"b\" c,d\n").records, (Records{{"a \"b\" c", "d"}}));
}

TEST_F(TableFile, OfTabsHasARecordOnEachLine) {
  const auto table = tsv("2\tb, \"c\"\tmore\n1\t\"a\n");
  EXPECT_EQ(table.records, (Records{{"2", "b, \"c\"", "more"}, {"1", "\"a"}}));
  EXPECT_EQ(table.field(0, 2), "more");
  EXPECT_EQ(error_of([&] { table.field(1, 2); }),
            "data/table: " + path("a.tsv") + ":2: got 2 columns, expected at least 3");
}

TEST_F(TableFile, HasTheFormatOfItsNameOrOfItsFirstLine) {
  const std::string both = "a,b\tc\n";
  const auto width = [&](const std::string& name, const TableOptions& options = {}) {
    return read_table(write(name, both), options).records[0];
  };
  EXPECT_EQ(width("a.csv"), (Records{{"a", "b\tc"}}[0]));
  EXPECT_EQ(width("a.tsv"), (Records{{"a,b", "c"}}[0]));
  EXPECT_EQ(width("a.txt"), (Records{{"a,b", "c"}}[0]));
  EXPECT_EQ(width("a.csv", {.format = "tsv"}), (Records{{"a,b", "c"}}[0]));
  EXPECT_EQ(read_table(write("b", "a,b\n")).records, (Records{{"a", "b"}}));
}

TEST_F(TableFile, MayBeCompressed) {
  gzFile const file = ::gzopen(path("a.csv.gz").c_str(), "wb");
  ::gzputs(file, "1,\"a\tb\"\n");
  ::gzclose(file);
  EXPECT_EQ(read_table(path("a.csv.gz")).records, (Records{{"1", "a\tb"}}));
}

TEST_F(TableFile, HasAHeaderIfAColumnIsAskedForByName) {
  const std::string bytes = "label,text\n1,a\n";
  EXPECT_EQ(csv(bytes).size(), 2U);
  EXPECT_EQ(csv(bytes, {.columns = {"1", "2"}}).size(), 2U);
  EXPECT_EQ(csv(bytes, {.header = "true"}).size(), 1U);
  const auto table = csv(bytes, {.columns = {"text", "1"}});
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.column("text"), 1U);
  EXPECT_EQ(table.column("1"), 0U);
  EXPECT_EQ(table.where(0), path("a.csv") + ":2");
}

TEST_F(TableFile, IsRefusedWithoutTheColumn) {
  const auto named = csv("label,text,text\n1,a,b\n", {.header = "true"}), plain = csv("1,a,b\n");
  const auto message = [](const Table& table, const std::string& column) {
    return error_of([&] { table.column(column); });
  };
  const std::string file = "data/table: " + path("a.csv");
  EXPECT_EQ(message(named, "lable"),
            file + ":1: got no column 'lable', expected one of label, text, text (did you mean 'label'?)");
  EXPECT_EQ(message(named, "text"), file + ":1: got several columns 'text', expected one; ask for it by its number");
  EXPECT_EQ(message(named, "4"), file + ": got column 4, expected 1 to 3: label, text, text");
  EXPECT_EQ(message(plain, "0"), file + ": got column 0, expected 1 to 3");
  EXPECT_TRUE(says(message(plain, "99999999999999999999"), {"expected 1 to 3"}));
  EXPECT_TRUE(says(message(plain, "text"), {"got column 'text', expected a number", "set header to true"}));
}

TEST_F(TableFile, IsRefusedWithTheLineOfTheMistake) {
  const std::string file = "data/table: " + path("a.csv");
  EXPECT_EQ(refusal("a,b\n\"c\nd\",e\nf\n"),
            file + ":4: got 1 fields, expected 2 fields as in the first record; put a field with commas in quotes");
  EXPECT_TRUE(says(refusal("a,b\n\nc,d\n"), {file + ":2: got an empty line, expected 2 fields"}));
  EXPECT_TRUE(says(refusal("a,b\nc,\"d\ne,f\n"), {file + ":2: got a quote that is never closed", "as \"\""}));
  EXPECT_TRUE(says(refusal("a\n\"b\nc\"d\n"), {file + ":3: got 'd' after a closing quote"}));
  EXPECT_TRUE(says(refusal(std::string("a\nb\0c\n", 6)), {file + ":2: got a NUL byte"}));
  EXPECT_TRUE(says(refusal("a\nb\xff\n"), {path("a.csv") + ":2: byte 2 is not UTF-8"}));
  EXPECT_TRUE(says(refusal(""), {path("a.csv") + ": is empty, expected records with commas or TABs"}));
  for (const std::string name : {"a.csv", "a.tsv"})
    EXPECT_EQ(refusal("\n \n\t\n", name),
              "data/table: " + path(name) + ": got no records in 3 lines, all of which are blank, expected some");
  EXPECT_TRUE(says(error_of([&] { csv("label,text\n", {.header = "true"}); }), {"got a header alone"}));
}

TEST_F(TableFile, OfTabsIsRefusedWithMoreFieldsThanTheFirstRecordHas) {
  const std::string bytes = "label\ttext\n1\ta\n2\n3\tb\tc\n", file = "data/table: " + path("a.tsv");
  const std::string got = file + ":4: got 3 columns, expected at most 2 as in the first record";
  EXPECT_EQ(refusal(bytes, "a.tsv"), got + "; a text has no TABs in it");
  EXPECT_TRUE(says(error_of([&] { tsv(bytes, {.header = "true"}); }), {got}));
  EXPECT_EQ(tsv(bytes, {.fields = 3}).field(3, 2), "c");
  EXPECT_EQ(error_of([&] { tsv(bytes + "4\t5\t6\t7\n", {.fields = 3}); }),
            file + ":5: got 4 columns, expected at most 3; a text has no TABs in it");
}

TEST_F(TableFile, IsRefusedWithAFieldOfMoreThanAMegabyte) {
  std::string bytes = "a\n\"";
  for (int line = 0; line < 1100; ++line) bytes += std::string(999, 'x') + "\n";
  EXPECT_EQ(refusal(bytes + "\"\n"), "data/table: " + path("a.csv") +
                                         ":2: got a field of more than 1048576 bytes, expected a text; the quote that "
                                         "opens it may lack the one that closes it");
}

TEST_F(TableFile, IsRefusedWithInvalidOptions) {
  EXPECT_EQ(error_of([&] { csv("a\n", {.format = "tvs"}); }),
            "data/table: got format 'tvs', expected one of auto, csv, tsv (did you mean 'tsv'?)");
  EXPECT_TRUE(says(error_of([&] { csv("a\n", {.header = "yes"}); }), {"got header 'yes', expected one of auto, true"}));
}

// Counted with Python's csv. 1,778 of the posts have a line break.
TEST(Table, HasTheToxicPostsWithTheirLineBreaks) {
  const std::string file = data_folder() + "toxic-spans/tsd_train.csv.gz";
  if (!exists(file)) GTEST_SKIP() << file << " is not there; HEED_DATA names the folder of data";
  const auto table = read_table(file, {.columns = {"text"}});
  EXPECT_EQ(table.size(), 7939U);
  int64_t broken = 0;
  for (size_t i = 0; i < table.size(); ++i)
    broken += table.field(i, table.column("text")).find('\n') != std::string::npos;
  EXPECT_EQ(broken, 1778);
}

}  // namespace
}  // namespace heed::testing
