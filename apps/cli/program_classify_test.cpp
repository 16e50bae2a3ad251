// Runs the commands of classifiers as a user does. Tiny ones are trained once for all tests: with attention, with the
// mean, on documents, and on texts in two columns.

#include <sys/stat.h>

#include "apps/cli/testing_runs.h"
#include <nlohmann/json.hpp>

#include "heed/data/explanation.h"
#include "heed/data/file.h"

namespace heed::cli {
namespace {

using testing::says;
using Words = std::vector<std::string>;

constexpr const char* kText = "The soup was not fresh . We loved the wine .";

class ClassifyProgram : public ProgramRuns {
 protected:
  static void SetUpTestSuite() {
    write_shared("reviews.yaml", kReviewRecipe);
    write_shared("translator.yaml", kTranslatorRecipe);
    std::ofstream table(runs("pairs.tsv"));
    table << "first\tsecond\tlabel\n";
    for (int i = 0; i < 8; ++i)
      table << "the cat sleeps\ta dog runs " << i << "\tno\nthe cat\tthe cat " << i << "\tyes\n";
    table.close();
    train({"reviews.yaml", "run.dir=attentive"});
    train({"reviews.yaml", "run.dir=mean", "model.attention=mean"});
    train({"reviews.yaml", "run.dir=documents", "model.attention={preset: yang_2016}", "data.sentences=rule"});
    train({"reviews.yaml", "run.dir=pairs", "model.attention={structure: interactive}",
           "data={train: pairs.tsv, dev: pairs.tsv, test: pairs.tsv, text: [first, second]}"});
    train({"translator.yaml", "run.dir=translator"});
  }

  Outcome attend(const std::string& name, std::vector<std::string> more) const {
    more.insert(more.begin(), {"attend", runs(name)});
    return run(more);
  }
  nlohmann::json attend_json(const std::string& name, std::vector<std::string> more) const {
    more.emplace_back("--json");
    const Outcome outcome = attend(name, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  }
};

double sum_of(const nlohmann::json& row) {
  double sum = 0;
  for (const auto& weight : row) sum += weight.get<double>();
  return sum;
}

// ---- classify ----

TEST_F(ClassifyProgram, LabelsEveryLine) {
  const Outcome outcome =
      run({"classify", runs("attentive")}, {.input = std::string(kText) + "\n\nNobody liked it .\n"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    EXPECT_TRUE(line.substr(0, tab) == "positive" || line.substr(0, tab) == "negative") << line;
    EXPECT_GE(std::stod(line.substr(tab + 1)), 0.5);
  }
  EXPECT_EQ(count, 3);  // the empty line too
  EXPECT_EQ(run({"classify", runs("attentive")}).out, "");
}

TEST_F(ClassifyProgram, AddsAWeightForEachWord) {
  const Start start{.input = std::string(kText) + "\n"};
  const Outcome text = run({"classify", runs("attentive"), "--attend"}, start);
  EXPECT_TRUE(says(text.out, {"\tthe:0.", " soup:0.", " wine:0."})) << text.err;
  const Outcome json = run({"classify", runs("documents"), "--attend", "--json"}, start);
  ASSERT_EQ(json.code, 0) << json.err;
  const auto line = nlohmann::json::parse(json.out);
  EXPECT_NEAR(line["probabilities"]["positive"].get<double>() + line["probabilities"]["negative"].get<double>(), 1,
              1e-6);
  ASSERT_EQ(line["attention"].size(), 3U);  // words of two sentences, and the sentences
  for (const auto& one : line["attention"]) EXPECT_NEAR(sum_of(one["weights"][0]), 1, 1e-5);
  EXPECT_EQ(line["attention"][1]["words"], (Words{"we", "loved", "the", "wine", "."}));
}

TEST_F(ClassifyProgram, LabelsWithTheMeanButHasNoWeightsOfIt) {
  EXPECT_EQ(run({"classify", runs("mean")}, {.input = "we loved it\n"}).code, 0);
  const Outcome outcome = run({"classify", runs("mean"), "--attend"}, {.input = "we loved it\n"});
  EXPECT_EQ(outcome.code, kFailed);
  EXPECT_TRUE(says(outcome.err, {"classify: --attend, but the model in ", "has no attention (mean)"}));
}

TEST_F(ClassifyProgram, RefusesALineWithTheWrongNumberOfTexts) {
  EXPECT_EQ(run({"classify", runs("pairs")}, {.input = "the cat\ta dog\n"}).code, 0);
  const Outcome outcome = run({"classify", runs("pairs")}, {.input = "the cat\ta dog\nthe cat\n"});
  EXPECT_EQ(outcome.code, kFailed);
  EXPECT_TRUE(says(outcome.err, {"standard input, line 2: got 1 text, expected 2 separated by tabs: first, second"}));
  EXPECT_TRUE(says(attend("pairs", {"--text", "a\tb\tc"}).err, {"--text 1: got 3 texts, expected 2"}));
}

TEST_F(ClassifyProgram, RefusesInvalidTextAndReadsNulAsAWord) {
  const Outcome invalid = run({"classify", runs("attentive")}, {.input = "we loved it\n\xff\xfe\n"});
  EXPECT_EQ(invalid.code, kFailed);
  EXPECT_TRUE(says(invalid.err, {"heed: standard input:2: byte 1 is not UTF-8"}));
  const Outcome nul = run({"classify", runs("attentive"), "--attend"}, {.input = std::string("a\0b .\n", 6)});
  EXPECT_EQ(nul.code, 0) << nul.err;
}

TEST_F(ClassifyProgram, ReportsUnknownWords) {
  const std::string unknown =
      "2 of 4 words are not in the vocabulary of " + runs("attentive") + " and are read as <unk>: 'zebra', 'blorb'\n";
  EXPECT_EQ(run({"classify", runs("attentive")}, {.input = "the zebra\nblorb .\n"}).err, "heed: classify: " + unknown);
  EXPECT_EQ(attend("attentive", {"--text", "the zebra blorb ."}).err, "heed: attend: " + unknown);
  EXPECT_EQ(attend_json("attentive", {"--text", "the zebra"})["unknown_words"], Words{"zebra"});
}

// ---- the other task ----

TEST_F(ClassifyProgram, NamesTheTaskOfARunOfTheOtherOne) {
  EXPECT_TRUE(
      says(run({"classify", runs("translator")}, {.input = "Tom\n"}).err, {"task is 'translate', expected classify"}));
  EXPECT_TRUE(
      says(run({"translate", runs("attentive")}, {.input = "Tom\n"}).err, {"task is 'classify', expected translate"}));
  const std::string file = write("lines", "Tom\n");
  EXPECT_TRUE(says(run({"align", runs("attentive"), file, file}).err, {"task is 'classify', expected translate"}));
  EXPECT_TRUE(
      says(attend("attentive", {"--source", "Tom"}).err, {"got --source, expected --text: ", "is a classifier"}));
  EXPECT_TRUE(says(attend("attentive", {"--text", "Tom", "--layer", "1"}).err, {"got --layer, expected --call"}));
  EXPECT_TRUE(
      says(attend("translator", {"--text", "Tom"}).err, {"got --text, expected --source: ", "is a translator"}));
  EXPECT_TRUE(says(attend("translator", {"--source", "Tom", "--call", "x"}).err, {"got --call, expected --layer"}));
  const Outcome neither = attend("attentive", {});
  EXPECT_EQ(neither.code, kMisused);
  EXPECT_TRUE(says(neither.err, {"--source or --text is required"}));
}

// ---- attend ----

TEST_F(ClassifyProgram, DrawsTheWordsOfATextWithTheirWeights) {
  const Outcome shown = attend("attentive", {"--text", kText, "--text", "we loved it", "--html", "text.html"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_TRUE(says(shown.out, {"tive 0.", " (self_attentive + softmax, attend)\n",
                               "\n  the soup was not fresh . we loved the wine .\n", "\n  we loved it\n"}));
  EXPECT_TRUE(says(contents(path("text.html")), {">fresh</span>", ">it</span>", "title=\"0."}));
  const auto json = attend_json("attentive", {"--text", kText});
  const auto& one = json["texts"][0];
  EXPECT_FALSE(one["equal_weights"]);
  EXPECT_EQ(one["attention"][0]["step"], "attend");
  EXPECT_EQ(one["attention"][0]["words"].size(), 11U);
  EXPECT_NEAR(sum_of(one["attention"][0]["weights"][0]), 1, 1e-5);
  const Outcome picture = attend("attentive", {"--text", kText, "--png", "text.png"});
  EXPECT_EQ(exists(path("text.png")), HEED_PNG != 0) << picture.err;
  EXPECT_TRUE(says(attend("attentive", {"--text", "a", "--text", "b", "--png", "two.png"}).err,
                   {"got --png with 2 texts, expected one"}));
}

TEST_F(ClassifyProgram, DrawsADocumentWithBothLevels) {
  const Outcome both = attend("documents", {"--text", kText});
  EXPECT_TRUE(says(both.out, {"level_1, level_2)\n  1: ", " %  the soup was not fresh .\n", "\n  2: ", " %  we loved"}))
      << both.err;
  const Outcome words = attend("documents", {"--text", kText, "--call", "level_1"});
  EXPECT_TRUE(says(words.out, {"\n  1  the soup was not fresh .\n"}));
  const auto sentences = attend_json("documents", {"--text", kText, "--call", "level_2"})["texts"][0]["attention"];
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences[0]["sentences"], (Words{"the soup was not fresh .", "we loved the wine ."}));
  EXPECT_TRUE(says(attend("documents", {"--text", kText, "--call", "level_3"}).err,
                   {"got call 'level_3'", "expected level_1, level_2 or all"}));
}

TEST_F(ClassifyProgram, DrawsEqualWeightsWithoutAttention) {
  const Outcome shown = attend("mean", {"--text", "we loved it ."});
  EXPECT_TRUE(says(shown.out, {" (no attention: every word has the same weight)\n  we loved it .\n  25 25    25 25\n"}))
      << shown.err;
  EXPECT_TRUE(attend_json("mean", {"--text", "we loved it ."})["texts"][0]["equal_weights"]);
}

TEST_F(ClassifyProgram, DrawsEachTextOfAnExample) {
  const Outcome shown = attend("pairs", {"--text", "the cat sleeps\ta dog"});
  EXPECT_TRUE(says(shown.out, {"\n  first   the cat sleeps\n", "\n  second  a  dog\n"})) << shown.err;
}

TEST_F(ClassifyProgram, ShowsWhatTestsOfTheWeightsFound) {
  constexpr const char* kFound = "Of 1 test, none speaks for reading these weights as an explanation";
  const auto json = [&] { return attend_json("pairs", {"--text", "the cat sleeps\ta dog runs"}); };
  EXPECT_TRUE(json()["verdict"].is_null());
  const std::string before = attend("pairs", {"--text", "the cat sleeps\ta dog runs"}).out;
  Explanation found{runs("pairs"), "classify", "interactive", "dev", 8, {}};
  found.results.push_back({.test = "permutation", .verdict = ExplanationVerdict::speaks_against});
  const std::string file = runs("pairs") + "/" + kExplanationFile;
  std::ofstream(file) << as_json(found).dump();
  EXPECT_TRUE(
      says(attend("pairs", {"--text", "the cat sleeps\ta dog runs"}).out, {before, std::string("\n  ") + kFound}));
  EXPECT_EQ(json()["verdict"], short_verdict(found));
  ASSERT_EQ(attend("pairs", {"--text", "the cat sleeps\ta dog runs", "--html", runs("pairs.html")}).code, 0);
  EXPECT_TRUE(says(read_file(runs("pairs.html")), {kFound}));
  std::ofstream(file) << "{";
  const Outcome damaged = attend("pairs", {"--text", "the cat sleeps\ta dog runs"});
  EXPECT_EQ(damaged.out, before);
  EXPECT_TRUE(says(damaged.err, {"attend: ", "explain.json: got text that is not JSON"}));
  ::unlink(file.c_str());
}

TEST_F(ClassifyProgram, DrawsAnEmptyText) {
  for (const char* name : {"attentive", "mean", "documents"}) {
    const Outcome shown = attend(name, {"--text", "", "--html", "empty.html"});
    EXPECT_EQ(shown.code, 0) << name << shown.err;
    EXPECT_TRUE(says(shown.out, {"no words"})) << name;
  }
}

// ---- eval, compare, demo ----

TEST_F(ClassifyProgram, EvaluatesAndComparesRuns) {
  for (const char* name : {"attentive", "mean", "documents"}) {
    const Outcome outcome = run({"eval", runs(name)});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(says(outcome.out, {"test: 20 examples, accuracy ", "label \\ predicted"}));
  }
  const Outcome table = run({"compare", runs("attentive"), runs("mean")});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(says(table.out, {"accuracy", "/attentive", "self_attentive + softmax", "/mean"}));
}

TEST_F(ClassifyProgram, TrainsARunOnceMoreWithForce) {
  const Words again{"train", runs("reviews.yaml"), "run.dir=again", "train.max_steps=1", "--quiet", "--force"};
  ASSERT_EQ(run(again).code, 0);
  const Outcome second = run(again);
  EXPECT_EQ(second.code, 0) << second.err;
}

// In a folder with the program at bin/heed, as after `make demo`.
TEST_F(ClassifyProgram, PrintsCommandsOfTheDemoThatWork) {
  ASSERT_EQ(::mkdir(path("bin").c_str(), 0777), 0);
  ASSERT_EQ(::symlink(HEED_PROGRAM, path("bin/heed").c_str()), 0);
  const Outcome demo = Process(folder_,
                               {"demo", "--task", "classify", "train.max_steps=3", "train.schedule=constant",
                                "data.reviews.train=100", "data.reviews.dev=10", "data.reviews.test=20"},
                               {.environment = {{"OMP_NUM_THREADS", "1"}}, .program = "bin/heed"})
                           .wait();
  ASSERT_EQ(demo.code, 0) << demo.err;
  EXPECT_TRUE(says(demo.out, {"self_attentive: accuracy ", "mean: accuracy ", " of the weight.", "labeled "}));
  EXPECT_TRUE(exists(path("runs/demo-classify/index.html")));
  int commands = 0;
  std::istringstream lines(demo.out.substr(demo.out.find("Next:\n")));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("bin/heed ") == std::string::npos) continue;
    ++commands;
    const Outcome pasted = Process(folder_, {"-c", line}, {.program = "/bin/sh"}).wait();
    EXPECT_EQ(pasted.code, 0) << line << '\n' << pasted.err;
  }
  EXPECT_EQ(commands, 4);
}

}  // namespace
}  // namespace heed::cli
