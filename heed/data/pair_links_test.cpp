// Gold links of parallel text: from files and from a column, for the pairs that are left, and what is refused.

#include "heed/data/pair_links.h"

#include <gtest/gtest.h>

#include "heed/base/check.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

class PairLinkFiles : public FolderTest {
 protected:
  ParallelText text(const std::vector<std::string>& files, int64_t longest = 0) const {
    return read_parallel({.files = files, .max_length = longest});
  }
  static std::string said(const ParallelText& text, const std::vector<std::string>& from) {
    return error_of([&] { read_pair_links(text, from); });
  }

  const std::string source_ = write("a.en", "one two\nthree four five\nsix\n"),
                    target_ = write("a.de", "eins zwei\ndrei vier\nsechs\n");
};

// The second pair has three words and is left out; the third keeps its own line.
TEST_F(PairLinkFiles, BelongToThePairsThatAreLeft) {
  const std::string gold = write("gold", "0-0 1-1\n2-1\n0p0\n");
  const PairLinks links = read_pair_links(text({source_, target_}, 2), {gold});
  ASSERT_EQ(links.links.size(), 2U);
  EXPECT_EQ(pharaoh(links.links[1]), "0p0");
  EXPECT_EQ(links.origins[1], gold + ":3");
}

TEST_F(PairLinkFiles, AreReadFromAColumn) {
  const std::string table = write("a.tsv", "one two\teins zwei\t0-1 1-0\nthree\tdrei\t\n");
  const PairLinks links = read_pair_links(text({table}), {"3"}, {.swap = true});
  EXPECT_EQ(pharaoh(links.links[0]), "1-0 0-1");
  EXPECT_TRUE(links.links[1].empty());
  EXPECT_EQ(links.origins[0], table + ":1");
  EXPECT_EQ(said(text({table}), {"4"}), "data/pair_links: " + table + ":1: got 3 columns, expected links in column 4");
  EXPECT_NE(said(text({source_, target_}), {"3"}).find("of one TSV file with both sides"), std::string::npos);
}

TEST_F(PairLinkFiles, AreRefusedWithFileAndLine) {
  const auto pairs = text({source_, target_});
  const std::string broken = write("broken", "0-0\n1~1\n0-0\n"), brief = write("brief", "0-0\n");
  EXPECT_EQ(said(pairs, {broken}).rfind("data/pair_links: " + broken + ":2: ", 0), 0U) << said(pairs, {broken});
  EXPECT_EQ(said(pairs, {brief}),
            "data/pair_links: " + brief + " has 1 lines, " + source_ + " 3; expected one line of links for each pair");
  EXPECT_EQ(said(pairs, {brief, brief}), "data/pair_links: got 2 files of links (" + brief + ", " + brief +
                                             ") for 1 of text, expected one for each");
}

TEST(PairLinks, ToWordsThatAreNotThereAreRefused) {
  check_links(parse_links("0-0 1-2"), 2, 3, "gold:7");
  EXPECT_EQ(error_of([] { check_links(parse_links("0-0 2-1"), 2, 3, "gold:7"); }),
            "data/pair_links: gold:7: got the link 2-1, expected source words 0 to 1 and target words 0 to 2; correct "
            "the link");
}

}  // namespace
}  // namespace heed::testing
