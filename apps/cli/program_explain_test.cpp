// Runs heed explain as a user does, stops it, and kills it.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/cli/testing_runs.h"
#include <nlohmann/json.hpp>

#include "heed/version.h"

namespace heed::cli {
namespace {

using testing::says;
using Json = nlohmann::json;
namespace fs = std::filesystem;

class ProgramExplain : public ProgramRuns {
 protected:
  static void SetUpTestSuite() {
    write_shared("reviews.yaml", kReviewRecipe);
    write_shared("translator.yaml", kTranslatorRecipe);
    train({"reviews.yaml", "run.dir=attentive"});
    train({"reviews.yaml", "run.dir=mean", "model.attention=mean"});
    train({"translator.yaml", "run.dir=translator"});
  }

  /// A copy of a shared run in the folder of the test.
  std::string copy_of(const std::string& name, const std::string& as) const {
    fs::copy(runs(name), path(as), fs::copy_options::recursive);
    fs::remove_all(path(as + "/explain"));
    for (const char* file : {"/explain.json", "/explain.html"}) fs::remove(path(as + file));
    return as;
  }
  Outcome explain(std::vector<std::string> more) const {
    more.insert(more.begin(), "explain");
    return run(more);
  }
  Json report(const std::string& run) const { return Json::parse(contents(path(run + "/explain.json"))); }
  /// The results of tests by name.
  static std::map<std::string, Json> results_of(const Json& report) {
    std::map<std::string, Json> all;
    for (const auto& result : report["results"]) all[result["test"]] = result;
    return all;
  }
  std::string refusal(const std::vector<std::string>& more) const {
    const Outcome outcome = explain(more);
    EXPECT_EQ(outcome.code, kFailed) << outcome.out;
    return outcome.err;
  }

  /// Starts the command in a process group of its own, and ends all of it with a signal when the file is there and has
  /// more lines than `lines`.
  int end_after(const std::string& file, size_t lines, const std::vector<std::string>& more, int signal) const {
    std::vector<std::string> all{HEED_PROGRAM, "--threads", "1", "explain"};
    all.insert(all.end(), more.begin(), more.end());
    std::vector<char*> words;
    for (auto& word : all) words.push_back(word.data());
    words.push_back(nullptr);
    const pid_t group = ::fork();
    if (group == 0) {
      ::setpgid(0, 0);
      std::signal(SIGINT, SIG_DFL);
      if (::chdir(folder_.c_str()) != 0) ::_exit(126);
      if (std::freopen(path("stderr").c_str(), "w", stderr) == nullptr) ::_exit(125);
      if (std::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(125);
      ::execv(words[0], words.data());
      ::_exit(127);
    }
    ::setpgid(group, group);
    const auto count = [&] {
      const std::string text = contents(path(file));
      return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    };
    int status = 0;
    for (int tries = 0; count() <= lines && tries < 20000; ++tries) {
      if (::waitpid(group, &status, WNOHANG) == group) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ::kill(-group, signal);
    ::waitpid(group, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
};

TEST_F(ProgramExplain, NamedTestsOfAClassifier) {
  const std::string run = copy_of("attentive", "run");
  const Outcome outcome = explain({run, "--tests", "permutation(samples=5),gradients", "--texts", "6"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(says(outcome.out, {"run: self_attentive + softmax, 6 texts of dev",
                                 "permutation: ", "gradients: ", ": run/explain.html, explain.json", "next:\n",
                                 " explain run --tests all --texts 6\n"}));
  EXPECT_EQ(outcome.out.find("nan"), std::string::npos) << outcome.out;
  const auto found = results_of(report(run));
  EXPECT_EQ(found.size(), 2U);
  EXPECT_TRUE(says(found.at("permutation")["notes"].dump(), {"Options: permutation(samples=5)"}));
  const std::string page = contents(path("run/explain.html"));
  EXPECT_TRUE(says(page, {"<html"}));
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org"));
}

TEST_F(ProgramExplain, ResultsOfEarlierCallsAreKept) {
  const std::string run = copy_of("attentive", "run");
  EXPECT_EQ(explain({run, "--tests", "gradients"}).code, 0);
  const Json before = results_of(report(run)).at("gradients");
  const Outcome second = explain({run, "--tests", "plausibility,permutation(samples=5)"});
  EXPECT_TRUE(says(second.out, {"from earlier calls: gradients"}));
  EXPECT_EQ(results_of(report(run)).at("gradients"), before);
  EXPECT_EQ(results_of(report(run)).size(), 3U);
  const Outcome other = explain({run, "--tests", "gradients", "--set", "test"});
  EXPECT_TRUE(says(other.err, {"explain.json is of another model or other texts (10 of dev), and is replaced",
                               "gradients: measured anew", "set is \"test\", there \"dev\""}));
  EXPECT_EQ(results_of(report(run)).size(), 1U);
}

TEST_F(ProgramExplain, ResultsOfAnotherSeedOrVersionAreReplaced) {
  const std::string run = copy_of("attentive", "run");
  ASSERT_EQ(explain({run, "--tests", "gradients"}).code, 0);
  const Outcome seed = explain({run, "--tests", "permutation(samples=5)", "--seed", "2"});
  EXPECT_TRUE(says(seed.err, {"run: explain.json is of another --seed (1), and is replaced"}));
  EXPECT_EQ(results_of(report(run)).size(), 1U);
  Json older = report(run);
  std::string text = older.dump();
  const std::string now = "\"" + std::string(kVersion) + " (commit ";
  ASSERT_NE(text.find(now), std::string::npos) << text;
  write("run/explain.json", text.replace(text.find(now), now.size(), "\"0.0.1 (commit "));
  const Outcome version = explain({run, "--tests", "gradients", "--seed", "2"});
  EXPECT_TRUE(says(version.err, {"run: explain.json is of another version of heed (0.0.1), and is replaced"}));
  EXPECT_EQ(results_of(report(run)).size(), 1U);
}

TEST_F(ProgramExplain, TheNextCommandIsThatOfTheReport) {
  fs::create_directory(path("all"));
  const std::string run = copy_of("attentive", "all/a run"), mean = copy_of("mean", "all/mean");
  const Outcome one = explain({run, "--tests=gradients", "--set", "test", "--seed", "7", "data.reviews.test=5"});
  EXPECT_TRUE(says(one.out, {" explain 'all/a run' --tests=all --set test --seed 7 data.reviews.test=5\n",
                             "in brackets: 95 % intervals by bootstrap over texts"}));
  const Outcome both = explain({run, mean, "--tests", "gradients", "--lambdas", "0,0.1"});
  EXPECT_TRUE(says(both.out, {" explain 'all/a run' all/mean --tests all --lambdas 0,0.1\n",
                              "in brackets: 95 % intervals by bootstrap over texts"}));
  const Outcome none = explain({mean, "--tests", "gradients"});
  EXPECT_EQ(none.out.find("--tests"), std::string::npos) << none.out;
}

TEST_F(ProgramExplain, TheSameCommandMeasuresNothingTwice) {
  const std::string run = copy_of("attentive", "run");
  const std::vector<std::string> command{run, "--tests", "permutation(samples=5)", "--json"};
  const Json first = Json::parse(explain(command).out);
  const std::string records = contents(path("run/explain/permutation.records.jsonl"));
  const auto when = fs::last_write_time(path("run/explain/permutation.records.jsonl"));
  const Outcome again = explain(command);
  EXPECT_EQ(Json::parse(again.out)["results"], first["results"]);
  EXPECT_EQ(fs::last_write_time(path("run/explain/permutation.records.jsonl")), when);
  EXPECT_EQ(contents(path("run/explain/permutation.records.jsonl")), records);
  EXPECT_TRUE(says(explain({run, "--tests", "permutation(samples=5)", "--again"}).err, {"permutation: "}));
  EXPECT_EQ(contents(path("run/explain/permutation.records.jsonl")), records);
}

TEST_F(ProgramExplain, IsTheSameAfterKills) {
  const std::string whole = copy_of("attentive", "whole"), cut = copy_of("attentive", "cut");
  const std::vector<std::string> options{"--tests", "permutation(samples=200),erasure", "data.reviews.dev=300"};
  const auto command = [&](const std::string& run) {
    std::vector<std::string> all{run};
    all.insert(all.end(), options.begin(), options.end());
    return all;
  };
  ASSERT_EQ(explain(command(whole)).code, 0);
  EXPECT_EQ(end_after("cut/explain/permutation.records.jsonl", 1, command(cut), SIGKILL), 128 + SIGKILL);
  EXPECT_EQ(end_after("cut/explain/erasure.records.jsonl", 1, command(cut), SIGKILL), 128 + SIGKILL);
  std::ofstream(path("cut/explain/erasure.records.jsonl"), std::ios::app)
      << "{\"item\":1";  // a line that was being written
  EXPECT_EQ(explain(command(cut)).code, 0);
  for (const std::string test : {"permutation", "erasure"})
    EXPECT_EQ(contents(path("cut/explain/" + test + ".records.jsonl")),
              contents(path("whole/explain/" + test + ".records.jsonl")));
  EXPECT_EQ(report(cut)["results"], report(whole)["results"]);
}

TEST_F(ProgramExplain, CtrlCSaysHowToGoOn) {
  const std::string run = copy_of("attentive", "run");
  const int code = end_after("run/explain/permutation.records.jsonl", 1,
                             {run, "--tests", "permutation(samples=2000)", "data.reviews.dev=400"}, SIGINT);
  EXPECT_EQ(code, kInterrupted);
  EXPECT_TRUE(says(contents(path("stderr")), {"stopped; go on with the same command: ", " explain run "}));
}

TEST_F(ProgramExplain, ModelsThatTestsNeedAreTrained) {
  const std::string run = copy_of("attentive", "run");
  const std::vector<std::string> command{run, "--tests", "seeds", "--seeds", "2"};
  const Outcome outcome = explain(command);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(says(outcome.err, {"seed_2"}));
  EXPECT_TRUE(fs::exists(path("run/explain/seed_2/model.safetensors")));
  EXPECT_TRUE(says(contents(path("run/explain/seed_2/recipe.yaml")), {"seed: 2"}));
  EXPECT_EQ(results_of(report(run)).at("seeds").value("not_run", ""), "");
  const auto when = fs::last_write_time(path("run/explain/seed_2/model.safetensors"));
  EXPECT_EQ(explain(command).code, 0);
  EXPECT_EQ(fs::last_write_time(path("run/explain/seed_2/model.safetensors")), when);
}

TEST_F(ProgramExplain, TrainingThatIsStoppedGoesOn) {
  const std::string whole = copy_of("attentive", "whole"), cut = copy_of("attentive", "cut");
  for (const auto& run : {whole, cut}) {
    std::string recipe = contents(path(run + "/recipe.yaml"));
    recipe.replace(recipe.find("max_steps: 10"), 13, "max_steps: 300");
    recipe.replace(recipe.find("checkpoint_every: 500"), 21, "checkpoint_every: 20");
    write(run + "/recipe.yaml", recipe);
  }
  ASSERT_EQ(explain({whole, "--tests", "seeds", "--seeds", "2"}).code, 0);
  const std::vector<std::string> command{cut, "--tests", "seeds", "--seeds", "2"};
  EXPECT_EQ(end_after("cut/explain/seed_2/metrics.jsonl", 0, command, SIGKILL), 128 + SIGKILL);
  EXPECT_EQ(end_after("cut/explain/seed_2/metrics.jsonl", 2, command, SIGINT), kInterrupted);
  EXPECT_TRUE(says(contents(path("stderr")), {"which write their checkpoints", "go on with the same command"}));
  EXPECT_EQ(explain(command).code, 0);
  EXPECT_EQ(contents(path("cut/explain/seed_2/model.safetensors")),
            contents(path("whole/explain/seed_2/model.safetensors")));
  EXPECT_EQ(report(cut)["results"], report(whole)["results"]);
}

TEST_F(ProgramExplain, AModelThatCannotBeTrainedIsReported) {
  const std::string run = copy_of("attentive", "run");
  make_folders(path("run/explain"));
  ASSERT_EQ(explain({run, "--tests", "gradients"}).code, 0);
  write("run/recipe.yaml", contents(path("run/recipe.yaml")) + "nonsense: 1\n");
  const Outcome outcome = explain({run, "--tests", "gradients,seeds", "--seeds", "2"});
  EXPECT_EQ(outcome.code, kFailed) << outcome.out;
  EXPECT_TRUE(says(outcome.err, {"the model seed_2 could not be trained", "nonsense", "--retry"}));
  EXPECT_TRUE(says(outcome.out, {"gradients: ", "not run: the model seed_2 could not be trained"}));
}

TEST_F(ProgramExplain, RunsAreCompared) {
  fs::create_directory(path("all"));
  copy_of("attentive", "all/a");
  copy_of("mean", "all/b");
  const Outcome outcome = explain({"all/a", "all/b", "--tests", "gradients,permutation(samples=5)"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(
      says(outcome.out, {"mechanism", "self_attentive + softmax", "a: ", "b: ", "written, ", "all/explain.html"}));
  EXPECT_TRUE(fs::exists(path("all/explain.html")));
  const Outcome json = explain({"all/a", "all/b", "--tests", "gradients", "--json", "--out", "page.html"});
  const Json both = Json::parse(json.out);
  EXPECT_EQ(both["runs"].size(), 2U);
  EXPECT_EQ(both["comparison"][0]["mechanism"], "self_attentive + softmax");
  EXPECT_TRUE(fs::exists(path("page.html")));
}

TEST_F(ProgramExplain, ATranslator) {
  const std::string run = copy_of("translator", "run");
  const Outcome outcome = explain({run, "--tests", "fast"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(says(outcome.out, {"plausibility: ", "not run: "}));
  EXPECT_EQ(report(run)["task"], "translate");
  EXPECT_TRUE(contents(path("run/explain.json")).find("NaN") == std::string::npos);
}

TEST_F(ProgramExplain, RationalesOfPeople) {
  const std::string run = copy_of("attentive", "run");
  write("data.tsv", "1\tgood\tthe soup was fresh\n2\tbad\twe hated it\n");
  const Json set = Json::parse(explain({run, "--tests", "plausibility", "--json"}).out);
  EXPECT_EQ(results_of(set).at("plausibility").value("not_run", ""), "");  // built-in reviews have them
  const std::string gold = write("gold.tsv", "1\t0 1\n");
  EXPECT_TRUE(says(refusal({run, "--tests", "plausibility", "--rationales", "none.tsv"}), {"--rationales 'none.tsv'"}));
  EXPECT_TRUE(says(refusal({run, "--tests", "plausibility", "--rationales", gold}),
                   {"gold.tsv:1: got 2 gold weights for the "}));
  EXPECT_TRUE(says(refusal({run, "--tests", "plausibility", "--rationales", write("far.tsv", "9999\t0 1\n")}),
                   {"far.tsv: got none of its 1 texts in the 10 that are explained"}));
  EXPECT_TRUE(says(refusal({run, "--tests", "plausibility", "--rationales", write("wrong.csv", "1,0 x\n")}),
                   {"wrong.csv:1: got the gold weight 'x'"}));
}

TEST_F(ProgramExplain, WrongInputIsRefused) {
  const std::string run = copy_of("attentive", "run");
  EXPECT_EQ(explain({}).code, kMisused);
  EXPECT_TRUE(says(refusal({"nothing"}), {"nothing: got no folder of that name"}));
  EXPECT_TRUE(says(refusal({"."}), {"got a folder of 1 run, expected the run itself: ./run"}));
  EXPECT_TRUE(says(refusal({run, "--tests", "erasur"}), {"(did you mean 'erasure'?)"}));
  EXPECT_TRUE(says(refusal({run, "data.nothing=1", "--tests", "gradients"}),
                   {"got the override 'data.nothing=1'", "data.root="}));
  for (const std::string key : {"max_length=5", "tokenizer=words", "lowercase=true", "sentences=rule", "phrases=true",
                                "train_rationales=x.tsv", "reviews.train=9", "links=x", "split.train=[1]"})
    EXPECT_TRUE(says(refusal({run, "data." + key, "--tests", "gradients"}), {"got the override 'data." + key + "'"}));
  EXPECT_TRUE(says(refusal({run, "data.lowercase=true", "--tests", "gradients"}),
                   {"which does not choose texts: the run reads them as it was trained"}));
  EXPECT_TRUE(says(refusal({run, run}), {"twice"}));
  EXPECT_TRUE(says(refusal({run, "--device", "abacus"}), {"--device is 'abacus'"}));
  EXPECT_EQ(explain({run, "--texts", "-1"}).code, kMisused);
  EXPECT_EQ(explain({run, "--lambdas", "a"}).code, kMisused);
  EXPECT_FALSE(fs::exists(path("run/explain.json")));
}

TEST_F(ProgramExplain, ForeignRecordsAreRefused) {
  const std::string run = copy_of("attentive", "run");
  make_folders(path("run/explain"));
  write("run/explain/gradients.records.jsonl", "my notes\n");
  const Outcome outcome = explain({run, "--tests", "gradients,permutation(samples=5)"});
  EXPECT_EQ(outcome.code, kFailed);
  EXPECT_TRUE(says(outcome.err, {"gradients.records.jsonl: got a first line 'my notes'"}));
  EXPECT_EQ(contents(path("run/explain/gradients.records.jsonl")), "my notes\n");
  EXPECT_EQ(results_of(report(run)).at("permutation").value("not_run", ""), "");
}

TEST_F(ProgramExplain, AFullDiskLeavesWholeRecords) {
  const std::string run = copy_of("attentive", "run"), whole = copy_of("attentive", "whole");
  ASSERT_EQ(explain({whole, "--tests", "erasure", "data.reviews.dev=200"}).code, 0);
  const std::string command =
      "trap '' XFSZ; ulimit -f 40; exec " HEED_PROGRAM " --threads 1 explain run --tests erasure data.reviews.dev=200";
  const Outcome full = Process(folder_, {"-c", command}, {.program = "/bin/sh"}).wait();
  EXPECT_EQ(full.code, kFailed) << full.err;
  EXPECT_TRUE(
      says(full.err, {"erasure.records.jsonl cannot be written", "make space", " explain run --tests erasure"}));
  EXPECT_FALSE(contents(path("run/explain/erasure.records.jsonl")).empty());
  EXPECT_EQ(explain({run, "--tests", "erasure", "data.reviews.dev=200"}).code, 0);
  EXPECT_EQ(report(run)["results"], report(whole)["results"]);
}

TEST_F(ProgramExplain, ASecondProcessIsRefused) {
  const std::string run = copy_of("attentive", "run");
  Process first(folder_,
                {"--threads", "1", "explain", run, "--tests", "permutation(samples=5000)", "data.reviews.dev=500"});
  EXPECT_TRUE(first.wait_for("run/explain/permutation.records.jsonl"));
  make_folders(path("other"));  // of its output
  const Outcome second = Process(path("other"), {"explain", "../run", "--tests", "gradients"}).wait();
  EXPECT_EQ(second.code, kFailed);
  EXPECT_TRUE(says(second.err, {"explain: ../run is in use: process ", "wait for its end"}));
  first.send(SIGTERM);
  EXPECT_EQ(first.wait().code, 128 + SIGTERM);
}

TEST_F(ProgramExplain, WorksFromAnyFolder) {
  make_folders(path("project/data"));
  write("project/data/train.tsv", "text\tlabel\ngood soup\tyes\nbad soup\tno\nfine food\tyes\npoor food\tno\n");
  write("project/toy.yaml", R"(task: classify
data: {root: data, train: train.tsv, dev: train.tsv, tokenizer: words}
model: {embedding: {dim: 8}, features: {kind: convolution, dim: 8}, attention: self_attentive + softmax}
train: {max_epochs: 1}
)");
  const Outcome trained = Process(path("project"), {"train", "toy.yaml", "--quiet", "run.dir=runs/toy"}).wait();
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Outcome outcome = explain({"project/runs/toy", "--tests", "gradients,seeds", "--seeds", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(
      says(refusal({"project/runs/toy", "--tests", "gradients", "--set", "test"}), {"got the set test, expected one"}));
  fs::rename(path("project/data"), path("project/moved"));
  EXPECT_TRUE(says(refusal({"project/runs/toy", "--tests", "gradients"}), {"data.train has 'train.tsv'"}));
  EXPECT_TRUE(says(refusal({"project/runs/toy", "--tests", "gradients", "data.train=x.tsv"}),
                   {"'data.train=x.tsv', which does not choose texts"}));
  EXPECT_EQ(explain({"project/runs/toy", "--tests", "gradients,seeds", "--seeds", "2", "data.root=project/moved"}).code,
            0);
}

TEST_F(ProgramExplain, TestsAreListed) {
  const Outcome listed = run({"list", "tests"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_TRUE(says(listed.out, {"gradients", "permutation", "erasure"}));
  EXPECT_TRUE(says(run({"list", "attributions"}).out, {"integrated_gradients", "rollout"}));
}

}  // namespace
}  // namespace heed::cli
