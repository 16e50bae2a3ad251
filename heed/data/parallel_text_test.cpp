#include "heed/data/parallel_text.h"

#include <map>

#include "heed/base/md5.h"
#include "heed/data/testing.h"

namespace heed::testing {
namespace {

using Lines = std::vector<std::string>;

class Parallel : public FolderTest {
 protected:
  ParallelText one(const std::string& bytes, TextOptions options = {}) const {
    options.files = {write("both", bytes)};
    return read_parallel(options);
  }
  ParallelText two(const std::string& source, const std::string& target, TextOptions options = {}) const {
    options.files = {write("en", source), write("de", target)};
    return read_parallel(options);
  }
};

TEST_F(Parallel, TextComesFromTwoFiles) {
  const auto text = two("a dog\na cat\n", "ein Hund\neine Katze");
  EXPECT_EQ(text.source, (Lines{"a dog", "a cat"}));
  EXPECT_EQ(text.target, (Lines{"ein Hund", "eine Katze"}));
  EXPECT_EQ(text.where(1), path("en") + ":2 and " + path("de") + ":2");
}

TEST_F(Parallel, TextComesFromColumns) {
  const auto text = one("Hi.\t嗨。\tCC-BY\nRun.\t你用跑的。\n");
  EXPECT_EQ(text.source, (Lines{"Hi.", "Run."}));
  EXPECT_EQ(text.target, (Lines{"嗨。", "你用跑的。"}));
  EXPECT_EQ(text.where(0), path("both") + ":1");
}

TEST_F(Parallel, TextComesFromLinesWithBars) {
  const auto text = one("2 .   ||| 2 .  \nyes ||| oui\n");
  EXPECT_EQ(text.source, (Lines{"2 .", "yes"}));
  EXPECT_EQ(text.target, (Lines{"2 .", "oui"}));
}

TEST_F(Parallel, TextComesFromSeveralFiles) {
  write("en", "a\n"), write("de", "b\n");
  const auto text = read_parallel({.files = {path("en"), path("de"), path("de"), path("en")}, .format = "two"});
  EXPECT_EQ(text.source, (Lines{"a", "b"}));
  EXPECT_EQ(text.where(1), path("de") + ":1 and " + path("en") + ":1");
}

TEST_F(Parallel, TextIsRefusedWhereALineHasNoPartner) {
  EXPECT_EQ(error_of([&] { two("a\nb\nc\n", "x\ny\n"); }), "data/parallel_text: " + path("en") + " has 3 lines and " +
                                                               path("de") + " 2, expected equal numbers; line 3 of " +
                                                               path("en") + " has no partner");
  EXPECT_TRUE(says(error_of([&] { two("a\n", "x\ny\n"); }), {"line 2 of " + path("de") + " has no partner"}));
  EXPECT_TRUE(says(error_of([&] { two("a\nb\n", "x\n \n"); }), {path("de") + ":2: the second side is empty"}));
  EXPECT_TRUE(says(error_of([&] { one("a\tx\n\ty\n"); }), {path("both") + ":2: the first side is empty"}));
  EXPECT_TRUE(says(error_of([&] { one("a\tx\nb\n"); }), {path("both") + ":2: no TAB in the line"}));
  EXPECT_TRUE(says(error_of([&] { one("a ||| x\nb\ty\n"); }), {path("both") + ":2: no ||| in the line"}));
  EXPECT_TRUE(says(error_of([&] { one("a ||| x ||| z\n"); }), {path("both") + ":1: more than one |||"}));
  EXPECT_TRUE(says(error_of([&] { one("a\n"); }), {path("both") + ":1: neither ||| nor a TAB"}));
  EXPECT_TRUE(says(error_of([&] { one("a\t\xff\n"); }), {path("both") + ":1: byte 3 is not UTF-8"}));
}

TEST_F(Parallel, TextIsRefusedWithInvalidOptions) {
  const auto message = [&](TextOptions options) { return error_of([&] { one("a\tx\n", std::move(options)); }); };
  EXPECT_EQ(message({.format = "tvs"}),
            "data/parallel_text: got format 'tvs', expected one of auto, two, tsv, ||| (did you mean 'tsv'?)");
  EXPECT_TRUE(says(message({.format = "two"}), {"got 1 files", "expected source, target"}));
  EXPECT_TRUE(says(message({.modulo = 20, .keep_residues = {20}}), {"residue 20, expected 0 to 19"}));
  EXPECT_TRUE(says(message({.keep_residues = {1}}), {"expected modulo"}));
  EXPECT_TRUE(says(message({.modulo = 20}), {"without the residues"}));
  EXPECT_TRUE(says(message({.max_length = -1}), {"got max_length -1"}));
  EXPECT_TRUE(says(error_of([] { read_parallel({}); }), {"got no files"}));
  EXPECT_TRUE(says(error_of([] { read_parallel({.files = {"a", "b", "c"}}); }), {"without their format"}));
}

TEST_F(Parallel, TextMayBeLoweredUnescapedAndSwapped) {
  const auto text = one("It &apos;S\tÖL &amp;quot;\n", {.lowercase = true, .unescape = true, .swap = true});
  EXPECT_EQ(text.source, (Lines{"öl &quot;"}));
  EXPECT_EQ(text.target, (Lines{"it 's"}));
}

TEST(Unescaped, TurnsEachEntityIntoItsCharacterOnce) {
  EXPECT_EQ(unescaped("&apos;&quot;&amp;&lt;&gt;&#124;&#91;&#93;"), "'\"&<>|[]");
  EXPECT_EQ(unescaped("&amp;lt; & &unknown; &"), "&lt; & &unknown; &");
}

TEST_F(Parallel, PairsMayBeLeftOutAndAreCounted) {
  const auto text = two("a\nb c d\n\ne\n", "x\ny\nz\nu v w\n", {.drop_empty = true, .max_length = 2});
  EXPECT_EQ(text.source, (Lines{"a"}));
  EXPECT_EQ(text.empty, 1);
  EXPECT_EQ(text.too_long, 2);
  EXPECT_TRUE(says(error_of([&] { one("a b\tx\n", {.max_length = 1}); }), {"of 1 pairs none is left", "1 too long"}));
}

// md5("Hi.") = 15 and md5("Run.") = 13 modulo 20, computed from the text in the file before any conversion.
TEST_F(Parallel, PairsMayBeChosenByTheirDigest) {
  const TextOptions options{.lowercase = true, .swap = true, .modulo = 20, .keep_residues = {1, 13}};
  EXPECT_EQ(one("Hi.\t嗨\nRun.\t跑\n", options).target, (Lines{"run."}));
}

// Counted with Python's hashlib; the authors of the file held back residue 0.
TEST_F(Parallel, TatoebaIsSplitByDigest) {
  const std::string file = data_folder() + "tatoeba-cmn-eng/cmn-eng.train.tsv.gz";
  if (!exists(file)) GTEST_SKIP() << file << " is not there; HEED_DATA names the folder of data";
  const auto all = read_parallel({.files = {file}});
  EXPECT_EQ(all.size(), 22385U);
  std::map<uint64_t, int> parts;
  for (const auto& line : all.source) ++parts[md5_modulo(line, 20)];
  EXPECT_EQ(parts.count(0), 0U);
  EXPECT_EQ(read_parallel({.files = {file}, .modulo = 20, .keep_residues = {1}}).size(), 1201U);
  EXPECT_EQ(read_parallel({.files = {file}, .modulo = 20, .keep_residues = {2}}).size(), 1180U);
  EXPECT_EQ(parts[3], 1267);
  EXPECT_EQ(parts[19], 1100);
}

TEST_F(Parallel, EuroparlLosesTheOnePairWithAnEmptySide) {
  const std::string folder = data_folder() + "align-deen-europarl100/bitext-10k/train10k.";
  if (!exists(folder + "de.gz")) GTEST_SKIP() << folder << "de.gz is not there; HEED_DATA names the folder of data";
  TextOptions options{.files = {folder + "de.gz", folder + "en.gz"}, .lowercase = true, .unescape = true};
  EXPECT_TRUE(says(error_of([&] { read_parallel(options); }), {"train10k.en.gz:", "the second side is empty"}));
  options.drop_empty = true;
  const auto text = read_parallel(options);
  EXPECT_EQ(text.size(), 9999U);
  EXPECT_EQ(text.empty, 1);
}

}  // namespace
}  // namespace heed::testing
