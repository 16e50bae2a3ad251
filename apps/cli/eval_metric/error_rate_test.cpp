// WER, CER and PER of files, with numbers of jiwer's documentation and numbers to count.

#include "apps/cli/eval_metric/testing_files.h"
#include <gtest/gtest.h>

#include "heed/data/file.h"
#include "heed/train/run/testing_folder.h"

namespace heed::cli {
namespace {

using namespace testing_files;

TEST(ErrorRateOfFiles, CountsEditsOfTheWholeCorpus) {
  EXPECT_DOUBLE_EQ(score("wer", {{"This is a test"}, {"This test"}}), .5);
  EXPECT_DOUBLE_EQ(
      score("wer", {{"i am a short ground truth"}, {"i am a considerably longer and very much incorrect hypothesis"}}),
      7. / 6);
  const auto found = json({"wer", "cer", "per"}, {{"a b c", "d"}, {"a x c", "d e"}});
  EXPECT_DOUBLE_EQ(found["wer"]["score"].get<double>(), 2. / 4);  // of 4 words one is replaced, one inserted
  EXPECT_EQ(found["wer"]["substitutions"], 1);
  EXPECT_EQ(found["wer"]["insertions"], 1);
  EXPECT_DOUBLE_EQ(found["cer"]["score"].get<double>(), 3. / 6);  // x; " e"
  EXPECT_EQ(found["per"]["signature"].get<std::string>().substr(0, 43), "nrefs:1|case:mixed|unit:phone|fold:none|ver");
}

TEST(ErrorRateOfFiles, PrintsCountsOfEachKind) {
  EXPECT_NE(
      printed(options({"wer"}, {{"a b c"}, {"a c"}})).find(" = 0.3333 (hits = 2 substitutions = 0 deletions = 1 "),
      std::string::npos);
}

// ix is ih and q is nothing in the 39 phones of Lee & Hon.
TEST(ErrorRateOfFiles, FoldsPhones) {
  auto o = options({"per"}, {{"ih t"}, {"ix q t"}});
  EXPECT_DOUBLE_EQ(score(o), 1);
  o.phone_fold = "timit";
  EXPECT_DOUBLE_EQ(score(o), 0);
  const testing::Folder folder;
  o.phone_fold = folder.path("fold");
  write_atomically(o.phone_fold, "ix ih\n");
  EXPECT_DOUBLE_EQ(score(o), .5);
  write_atomically(o.phone_fold, "ix ih\nix t\n");
  EXPECT_EQ(problem(o), "eval: " + o.phone_fold + ":2: got the phone 'ix' again, expected each once");
  write_atomically(o.phone_fold, "a b c\n");
  EXPECT_EQ(problem(o), "eval: " + o.phone_fold +
                            ":1: got 'a b c', expected a phone and what becomes of it, or a phone alone, which is left "
                            "out");
}

TEST(ErrorRateOfFiles, DefinesEmptyLines) {
  EXPECT_DOUBLE_EQ(score("wer", {{""}, {""}}), 0);
  EXPECT_DOUBLE_EQ(score("wer", {{""}, {"two words"}}), 2);
}

TEST(ErrorRateOfFiles, RefusesWhatItCannotCompare) {
  auto o = options({"wer"}, {{"a"}, {"a"}});
  o.references = {"gold", "gold"};
  EXPECT_EQ(problem(o), "eval: got 2 references for wer, expected one; systems to compare are given by --hypothesis");
  EXPECT_EQ(problem({"wer"}, {{"a", "b"}, {"a", std::string("b\0", 2)}}),
            "eval: a:2: got a NUL byte, expected text; save the file as UTF-8");
  EXPECT_EQ(problem({"wer"}, {{"a", "b"}, {"a"}}),
            "eval: a has 1 lines but gold has 2, expected the same number of lines");
}

// NLTK: 0.96539162 for an inserted word.
TEST(MeteorOfFiles, NamesTheStagesThatRan) {
  const auto found = json({"meteor"}, {{"The cat sat on the mat"}, {"The cat was sat on the mat"}})["meteor"];
  EXPECT_NEAR(found["score"].get<double>(), .96539162, 1e-8);
  EXPECT_EQ(found["stages"][0], "exact");
  EXPECT_EQ(found["stages"][1], "stem");
  EXPECT_NE(found["signature"].get<std::string>().find("|stages:exact+stem"), std::string::npos);
  EXPECT_EQ(found["matches"]["exact"], 6);
}

}  // namespace
}  // namespace heed::cli
