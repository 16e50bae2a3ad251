// Runs heed eval RUN --attention GOLD as a user does, on tiny runs whose figures are known: from a model without
// attention, from weights that another command prints, and from gold that is the model's own links.

#include <cmath>
#include <memory>

#include "apps/cli/testing_runs.h"
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

using testing::says;
using Json = nlohmann::json;

class EvalAttention : public ProgramRuns {
 protected:
  static void SetUpTestSuite() {
    write_shared("reviews.yaml", kReviewRecipe);
    write_shared("translator.yaml", kTranslatorRecipe);
    train({"reviews.yaml", "run.dir=attentive"});
    train({"reviews.yaml", "run.dir=other", "train.seed=2"});
    train({"reviews.yaml", "run.dir=mean", "model.attention=mean"});
    train({"translator.yaml", "run.dir=translator"});
  }

  Outcome eval(const std::string& name, std::vector<std::string> more) const {
    more.insert(more.begin(), {"eval", runs(name), "--attention"});
    return run(more);
  }
  Json report(const std::string& name, std::vector<std::string> more) const {
    more.emplace_back("--json");
    const Outcome outcome = eval(name, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out);
  }
  /// Two texts with rationales: one word of four, and two words of three.
  std::string rationales() const {
    return write("gold.tsv", "1\tthe soup was fresh\t0 0 0 1\n2\twe loved it\t0 1 1\n");
  }
};

double mean_of(const Json& report, const std::string& map, const std::string& figure) {
  return report["maps"][map][figure]["mean"].get<double>();
}

TEST_F(EvalAttention, OfAModelWithoutAttentionIsThatOfEqualWeights) {
  const Json found = report("mean", {rationales(), "--text-column", "2"});
  EXPECT_NEAR(mean_of(found, "attention", "correctness"), (1. / 4 + 2. / 3) / 2, 1e-6);
  EXPECT_NEAR(mean_of(found, "attention", "roc_auc"), 0.5, 1e-12);
  EXPECT_NEAR(mean_of(found, "attention", "support"), (4 + 3) / 2., 1e-6);
  EXPECT_EQ(found["maps"]["attention"]["correctness"]["mean"], found["maps"]["equal"]["correctness"]["mean"]);
  EXPECT_EQ(found["counts"]["texts"], 2);
  EXPECT_EQ(found["counts"]["with_constant_weights"], 2);
}

TEST_F(EvalAttention, OfAClassifierIsThatOfItsWeights) {
  const Outcome weights =
      run({"classify", runs("attentive"), "--attend", "--json"}, {.input = "the soup was fresh\nwe loved it\n"});
  std::istringstream lines(weights.out);
  std::string first, second;
  std::getline(lines, first);
  std::getline(lines, second);
  const Json soup = Json::parse(first)["attention"][0]["weights"][0],
             loved = Json::parse(second)["attention"][0]["weights"][0];
  const double expected = (soup[3].get<double>() + loved[1].get<double>() + loved[2].get<double>()) / 2;
  const Json found = report("attentive", {rationales(), "--text-column", "2"});
  EXPECT_NEAR(mean_of(found, "attention", "correctness"), expected, 1e-5);
  EXPECT_LE(found["maps"]["attention"]["correctness"]["low"].get<double>(), expected + 1e-5);
  const Json& origin = found["provenance"];
  EXPECT_EQ(origin["seeds"], Json::parse("[1]"));
  EXPECT_EQ(origin["data"]["gold"].get<std::string>().size(), 32U);
  EXPECT_TRUE(says(origin["command"].get<std::string>(), {" eval ", " --attention "}));
}

TEST_F(EvalAttention, IsComparedWithTheStrongestBaseline) {
  const std::vector<std::string> options{rationales(), "--text-column", "2", "--controls", "length"};
  const Json found = report("attentive", options);
  for (const std::string figure : {"average_precision", "roc_auc", "spearman"}) {
    const Json& difference = found["differences"][figure];
    EXPECT_EQ(difference["baseline"], "length");
    EXPECT_EQ(difference["texts"], 2);
    EXPECT_NEAR(difference["difference"].get<double>(),
                mean_of(found, "attention", figure) - mean_of(found, "length", figure), 1e-12);
    EXPECT_LE(difference["low"], difference["high"]);
  }
  EXPECT_TRUE(says(eval("attentive", options).out, {"attention less a baseline", "baseline", "difference"}));
}

TEST_F(EvalAttention, ReadsAWordPerRecordAndGradedWeights) {
  const std::string gaze = write("gaze.csv",
                                 "sentence,word,time\n7,The,0.5\n7,soup,2\n7,was,1\n7,fresh<END>,3\n"
                                 "8,We,1\n8,loved,4\n8,it<END>,2\n");
  const Json found = report("attentive", {gaze, "--word-rows", "--id-column", "sentence", "--text-column", "word",
                                          "--strip-suffix", "<END>", "--controls", "none"});
  EXPECT_EQ(found["counts"]["words"], 7);
  EXPECT_TRUE(found["maps"]["attention"].contains("spearman"));
  EXPECT_FALSE(found["maps"]["attention"].contains("roc_auc"));
  // Ranks of the lengths 1.5 3 1.5 4 and of the times 1 3 2 4: 4.5 / sqrt(4.5 x 5); 1.5 3 1.5 and 1 3 2: 1.5 / sqrt(3).
  EXPECT_NEAR(found["maps"]["length"]["spearman"]["mean"].get<double>(), (std::sqrt(0.9) + std::sqrt(0.75)) / 2, 1e-9);
}

TEST_F(EvalAttention, ComparesSeeds) {
  const Json found = report("attentive", {rationales(), "--text-column", "2", "--agree", runs("other")});
  const auto& agreement = found["agreement"]["runs"];
  EXPECT_EQ(agreement["maps"].size(), 2U);
  EXPECT_GE(agreement["jsd"]["mean"].get<double>(), 0);
  const Json same = report("attentive", {rationales(), "--text-column", "2", "--agree", runs("attentive")});
  EXPECT_NEAR(same["agreement"]["runs"]["tvd"]["mean"].get<double>(), 0, 1e-12);
}

TEST_F(EvalAttention, CountsDegenerateTexts) {
  const std::string gold = write("few.tsv", "1\tsoup\t1\n2\twe loved it\t0 0 0\n3\twe loved it\t1 1 1\n");
  const Json found = report("attentive", {gold, "--text-column", "2"});
  EXPECT_EQ(found["counts"]["with_one_word"], 1);
  EXPECT_EQ(found["counts"]["with_empty_rationale"], 1);
  EXPECT_EQ(found["maps"]["attention"]["roc_auc"]["mean"], nullptr);
  EXPECT_EQ(found["maps"]["attention"]["roc_auc"]["undefined"], 3);
  const std::string table = eval("attentive", {gold, "--text-column", "2"}).out;
  EXPECT_TRUE(says(table, {"3 texts", "1 with empty rationale"}));
  EXPECT_EQ(table.find(" nan"), std::string::npos) << table;
}

TEST_F(EvalAttention, OfATranslatorHasNoErrorAgainstItsOwnLinks) {
  const std::string source = write("source", "Tom chases two clever cats\nI love China\n"),
                    target = write("target", "汤姆追两只聪明的猫\n我爱中国\n");
  const Outcome links = run({"align", runs("translator"), source, target});
  ASSERT_EQ(links.code, 0) << links.err;
  const std::string gold = write("links", links.out);
  const std::vector<std::string> set{"data={test: [" + source + ", " + target + "], dev: [" + source + ", " + target +
                                     "], train: [" + source + ", " + target + "], tokenizer: words}"};
  const Json found = report("translator", {gold, set.front()});
  EXPECT_NEAR(found["links"]["forward"]["aer"].get<double>(), 0, 1e-12);
  EXPECT_EQ(found["counts"]["pairs"], 2);
  EXPECT_GT(found["links"]["diagonal"]["aer"].get<double>(), -1e-12);
}

TEST_F(EvalAttention, RefusesGoldThatDoesNotFit) {
  const auto refusal = [&](const std::string& content, std::vector<std::string> more) {
    more.insert(more.begin(), write("bad.tsv", content));
    const Outcome outcome = eval("attentive", more);
    EXPECT_EQ(outcome.code, kFailed) << outcome.out;
    return outcome.err;
  };
  EXPECT_TRUE(says(refusal("1\twe loved it\t0 1\n", {"--text-column", "2"}),
                   {"bad.tsv:1: got 2 gold weights for 3 words, expected one for each"}));
  EXPECT_TRUE(says(refusal("1\twe loved it\t0 nan 1\n", {"--text-column", "2"}), {"bad.tsv:1", "'nan'", "finite"}));
  EXPECT_TRUE(says(refusal("1\t0 1\n", {"--set", "dev"}),
                   {"bad.tsv:1: got 2 gold weights for the ", "the id '1' may be of another text in --set dev",
                    "--id-column", "--text-column if the gold has texts of its own"}));
  EXPECT_TRUE(says(refusal("0 1 1\n", {}), {"bad.tsv:1", "a single column"}));
  EXPECT_TRUE(says(run({"eval", "--attention", rationales()}).err, {"got --attention without a run"}));
}

}  // namespace
}  // namespace heed::cli
