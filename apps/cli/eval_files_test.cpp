#include "apps/cli/eval_files.h"

#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/data/file.h"
#include "heed/train/run/testing_folder.h"
#include "heed/version.h"

namespace heed::cli {
namespace {

const std::map<std::string, std::vector<std::string>> kFiles{
    {"hyp", {"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."}},
    {"ref.a", {"The dog bit the man.", "It was not unexpected.", "The man bit him first."}},
    {"ref.b", {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}},
    {"src", {"a b c d e", "a b c", "a b c d e f g h i j k l"}},
    {"src.zh", {"狗咬人", "不 奇怪", "人咬了狗人咬了狗人咬了狗"}},
    {"short", {"one line"}},
    {"empty", {}},
    {"links", {"0-0 1-1 2-1"}},
    {"gold", {"0-0 1-2 2p1"}},
    {"gold.1", {"1-1 2-3 3p2"}},
    {"late", {"1-1 2-1"}},
    {"turned", {"0-0 1-1 1-2"}},
    {"broken", {"0-0 1_1"}}};

EvalFilesOptions options(const std::string& hypothesis = "", const std::vector<std::string>& references = {}) {
  EvalFilesOptions o;
  if (!hypothesis.empty()) o.hypotheses = {hypothesis};
  o.references = references;
  o.read = [](const std::string& path) { return kFiles.at(path); };
  return o;
}

std::string printed(const EvalFilesOptions& o) {
  std::ostringstream out;
  eval_files(out, o);
  return out.str();
}

std::string problem(const EvalFilesOptions& o) {
  try {
    printed(o);
  } catch (const Error& error) {
    return error.what();
  }
  return "no problem";
}

const std::string kSigned = "|version:heed-" + std::string(kVersion);

TEST(EvalFiles, PrintsALineForEachMetricAsSacrebleuDoes) {
  auto o = options("hyp", {"ref.a", "ref.b"});
  o.metrics = {"bleu", "ter", "chrf", "chrf++"};
  EXPECT_EQ(printed(o), "BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp" + kSigned +
                            " = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)\n"
                            "TER|nrefs:2|case:lc|tok:tercom|norm:no|punct:yes|asian:no" +
                            kSigned +
                            " = 40.00\n"
                            "chrF2|nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no" +
                            kSigned +
                            " = 59.73\n"
                            "chrF2++|nrefs:2|case:mixed|eff:yes|nc:6|nw:2|space:no" +
                            kSigned + " = 59.15\n");
}

TEST(EvalFiles, TakesTokenizerCaseAndDigits) {
  auto o = options("hyp", {"ref.a", "ref.b"});
  o.metrics = {"bleu"};
  o.bleu.tokenizer = "none";
  o.digits = 8;
  EXPECT_NE(printed(o).find("tok:none|smooth:exp" + kSigned + " = 49.19195660 "), std::string::npos) << printed(o);
  o.bleu.lowercase = true;
  EXPECT_NE(printed(o).find("case:lc"), std::string::npos);
}

TEST(EvalFiles, PrintsJsonWithEveryDigit) {
  auto o = options("hyp", {"ref.a", "ref.b"});
  o.json = true;
  o.source = "src";
  o.links = "links";
  o.gold_links = "gold";
  const auto all = nlohmann::json::parse(printed(o));
  EXPECT_NEAR(all["bleu"]["score"].get<double>(), 48.53082701, 5e-9);
  EXPECT_EQ(all["bleu"]["matches"], nlohmann::json({14, 7, 5, 3}));
  EXPECT_EQ(all["chrf"]["name"], "chrF2");
  EXPECT_EQ(all["ter"]["signature"].get<std::string>().substr(0, 8), "nrefs:2|");
  EXPECT_EQ(all["bleu_by_source_length"].size(), 2U);
  EXPECT_EQ(all["bleu_by_source_length"][1]["shortest"], 12);
  EXPECT_NEAR(all["alignment"]["aer"].get<double>(), .4, 1e-15);
}

TEST(EvalFiles, PrintsBleuByTheLengthOfTheSource) {
  auto o = options("hyp", {"ref.a"});
  o.metrics = {};
  o.source = "src";
  EXPECT_EQ(printed(o),
            "     source words   sentences     BLEU\n"
            "           3 to 5           2    63.98\n"
            "         12 to 12           1    15.62\n");
  o.source = "src.zh";  // most lines have no whitespace
  EXPECT_NE(printed(o).find("source characters"), std::string::npos) << printed(o);
  EXPECT_NE(printed(o).find("         12 to 12           1"), std::string::npos) << printed(o);
  o.source = "src";
  o.source_characters = true;
  EXPECT_NE(printed(o).find("         12 to 12           1"), std::string::npos) << printed(o);
}

TEST(EvalFiles, ComparesLinksWithGoldLinks) {
  auto o = options();
  o.links = "links";
  o.gold_links = "gold";
  const std::string expected = "AER = 40.00 % precision = 66.67 % recall = 50.00 % (links = 3 sure = 2 possible = 3)\n";
  EXPECT_EQ(printed(o), expected);
  o.gold_links = "gold.1";
  o.gold_numbers.from_one = true;
  EXPECT_EQ(printed(o), expected);
  o.links = "turned";
  o.links_numbers.swapped = true;
  EXPECT_EQ(printed(o), expected);
}

// The same gold links, counted from 1 and read as counted from 0.
TEST(EvalFiles, NoticesLinksThatAreCountedFromOne) {
  auto o = options();
  std::ostringstream remarks;
  o.remarks = &remarks;
  o.links = "links";
  o.gold_links = "gold.1";
  EXPECT_NE(printed(o).find("AER = 60.00 %"), std::string::npos) << printed(o);
  remarks.str("");
  printed(o);
  EXPECT_EQ(remarks.str(),
            "eval: gold.1: got links without any word 0, expected words counted from 0; counted from 1, AER is 40.00 % "
            "instead of 60.00 %: give --gold-from-one\n");
  std::swap(o.links, o.gold_links);
  remarks.str("");
  printed(o);
  EXPECT_NE(remarks.str().find("eval: gold.1: got links without any word 0"), std::string::npos) << remarks.str();
  EXPECT_NE(remarks.str().find("give --links-from-one"), std::string::npos) << remarks.str();
  o.links_numbers.from_one = true;
  remarks.str("");
  printed(o);
  EXPECT_EQ(remarks.str(), "");
  o = options();
  o.remarks = &remarks;
  o.links = "links";
  o.gold_links = "gold";
  printed(o);
  o.gold_links = "late";  // has no word 0, but counting it from 1 would make it worse
  printed(o);
  EXPECT_EQ(remarks.str(), "");
}

TEST(EvalFiles, NamesFilesThatDoNotMatch) {
  EXPECT_EQ(problem(options("hyp", {"ref.a", "short"})),
            "eval: hyp has 3 lines but short has 1, expected the same number of lines");
  auto with_source = options("hyp", {"ref.a"});
  with_source.source = "short";
  EXPECT_EQ(problem(with_source), "eval: hyp has 3 lines but short has 1, expected the same number of lines");
  EXPECT_NE(problem(options("empty", {"empty"})).find("empty is empty"), std::string::npos);
  EXPECT_NE(problem(options("hyp")).find("without references"), std::string::npos);
  EXPECT_NE(problem(options()).find("nothing to evaluate"), std::string::npos);
}

TEST(EvalFiles, NamesTheLineWithInvalidLinks) {
  auto o = options();
  o.links = "broken";
  EXPECT_NE(problem(o).find("links without gold links"), std::string::npos);
  o.gold_links = "gold";
  EXPECT_NE(problem(o).find("eval: broken, line 1: base/links: '1_1' is no link"), std::string::npos) << problem(o);
}

TEST(EvalFiles, RefusesALineThatTerWouldSpendHoursOn) {
  std::string words;
  for (int i = 0; i < 20'000; ++i) words += "a ";
  auto o = options("hyp", {"ref"});
  o.read = [&](const std::string& path) { return std::vector<std::string>{"a", path == "ref" ? words : "a"}; };
  EXPECT_EQ(
      problem(o),
      "eval: ref:2: got 20000 words, expected at most 3000 for TER; break the line into sentences, or leave ter out "
      "of --metrics");
  o.metrics = {"bleu", "chrf"};
  EXPECT_EQ(problem(o), "no problem");
}

TEST(EvalFiles, SuggestsMetricsAndTokenizers) {
  auto o = options("hyp", {"ref.a"});
  o.metrics = {"blue"};
  EXPECT_NE(problem(o).find("no metric called 'blue' (did you mean 'bleu'?)"), std::string::npos) << problem(o);
  o = options("hyp", {"ref.a"});
  o.bleu.tokenizer = "chars";
  EXPECT_NE(problem(o).find("no tokenizer called 'chars' (did you mean 'char'?)"), std::string::npos) << problem(o);
}

// sacreBLEU counts a byte-order mark as a character of the first word.
TEST(EvalFiles, DropsAByteOrderMark) {
  const testing::Folder folder;
  write_atomically(folder.path("marked"), "\xEF\xBB\xBFThe dog bit the man .\n");
  write_atomically(folder.path("plain"), "The dog bit the man .\r\n");
  EvalFilesOptions o;
  o.hypotheses = {folder.path("marked")};
  o.references = {folder.path("plain")};
  o.metrics = {"ter"};
  EXPECT_NE(printed(o).find(" = 0.00\n"), std::string::npos) << printed(o);
}

TEST(EvalFiles, ReadsLinesOfFiles) {
  const std::string path = ::testing::TempDir() + "heed_eval_" + std::to_string(::getpid());
  std::ofstream(path) << "The dog bit the man.\nIt was not unexpected.\n";
  EvalFilesOptions o;
  o.hypotheses = {path};
  o.references = {path};
  EXPECT_NE(printed(o).find(" = 100.00 100.0/100.0/100.0/100.0"), std::string::npos) << printed(o);
  o.references = {path + ".none"};
  EXPECT_EQ(problem(o), "data/text: " + path + ".none: cannot be opened: No such file or directory");
  std::ofstream(path, std::ios::trunc).close();
  for (const auto& [metric, expected] : std::vector<std::pair<std::string, std::string>>{
           {"bleu", "a sentence"}, {"mse", "a number"}, {"f1", "a label"}, {"mrr", "query<TAB>item item ..."}}) {
    o.metrics = {metric};
    o.references = {path};
    EXPECT_EQ(problem(o), "eval: " + path + " is empty, expected " + expected + " on each line");
  }
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace heed::cli
