#include "apps/cli/eval_files.h"

#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/version.h"

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
    {"turned", {"0-0 1-1 1-2"}},
    {"broken", {"0-0 1_1"}}};

EvalFilesOptions options(const std::string& hypothesis = "", const std::vector<std::string>& references = {}) {
  EvalFilesOptions o;
  o.hypothesis = hypothesis;
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
  o.source = "src.zh";
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

TEST(EvalFiles, SaysWhichFilesDoNotFit) {
  EXPECT_EQ(problem(options("hyp", {"ref.a", "short"})), "eval: hyp has 3 lines but short has 1, expected as many");
  auto with_source = options("hyp", {"ref.a"});
  with_source.source = "short";
  EXPECT_EQ(problem(with_source), "eval: hyp has 3 lines but short has 1, expected as many");
  EXPECT_NE(problem(options("empty", {"empty"})).find("empty is empty"), std::string::npos);
  EXPECT_NE(problem(options("hyp")).find("without references"), std::string::npos);
  EXPECT_NE(problem(options()).find("nothing to evaluate"), std::string::npos);
}

TEST(EvalFiles, SaysWhichLineHasNoLinks) {
  auto o = options();
  o.links = "broken";
  EXPECT_NE(problem(o).find("links without gold links"), std::string::npos);
  o.gold_links = "gold";
  EXPECT_NE(problem(o).find("eval: broken, line 1: base/links: '1_1' is no link"), std::string::npos) << problem(o);
}

TEST(EvalFiles, SuggestsMetricsAndTokenizers) {
  auto o = options("hyp", {"ref.a"});
  o.metrics = {"blue"};
  EXPECT_NE(problem(o).find("no metric called 'blue' (did you mean 'bleu'?)"), std::string::npos) << problem(o);
  o = options("hyp", {"ref.a"});
  o.bleu.tokenizer = "chars";
  EXPECT_NE(problem(o).find("no tokenizer called 'chars' (did you mean 'char'?)"), std::string::npos) << problem(o);
}

TEST(EvalFiles, ReadsLinesOfFiles) {}

}  // namespace
}  // namespace heed::cli
