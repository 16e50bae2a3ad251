#include "apps/cli/compare.h"

#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/data/testing.h"

namespace heed::cli {
namespace {

using testing::says;

constexpr const char* kResults = R"({"run": "elsewhere", "mechanism": "additive + softmax", "step": 580,
  "train_seconds": 41.2, "tokens_per_second": 12345.6, "parameters": 423104, "peak_memory": 250400000, "device": "cpu", "threads": 1,
  "heed": "0.1.0", "seed": 3, "data": {"data.dev": "0123456789"}, "dev": {"sentences": 100, "bleu": 96.1, "bleu_signature": "tok:none"},
  "test": {"sentences": 400, "bleu": 97.25, "bleu_signature": "tok:none", "chrf": 98.5, "ter": 1.5,
           "perplexity": 1.1, "aer": 0.034}})";

class Compare : public testing::FolderTest {
 protected:
  /// Writes a run folder with these files in addition to recipe.yaml.
  void make_run(const std::string& name, const std::vector<std::pair<std::string, std::string>>& files) const {
    make_folders(path(name));
    write(name + "/recipe.yaml", "task: translate\n");
    write(name + "/config.json", R"({"heed": "0.1.0", "mechanism": "dot + softmax"})");
    for (const auto& [file, content] : files) write(name + "/" + file, content);
  }
  std::string with(const std::string& old_text, const std::string& new_text) const {
    std::string results = kResults;
    const size_t at = results.find(old_text);
    EXPECT_NE(at, std::string::npos) << old_text;
    return results.replace(at, old_text.size(), new_text);
  }
  std::vector<RunSummary> read(const std::vector<std::string>& names) const {
    std::vector<RunSummary> runs;
    for (const auto& name : names) runs.push_back(read_run_summary(path(name)));
    for (auto& run : runs) run.run = run.run.substr(folder_.size() + 1);
    return runs;
  }
  std::string refusal(const std::string& name) const {
    try {
      run_folders({path(name)});
      return "nothing was refused";
    } catch (const Error& error) {
      return error.what();
    }
  }
  static std::string printed(const std::vector<RunSummary>& runs, int columns = 0) {
    std::ostringstream out;
    print_comparison(out, runs, columns);
    return out.str();
  }
  static std::vector<std::string> names_of(const std::vector<RunSummary>& runs) {
    std::vector<std::string> names;
    for (const auto& run : runs) names.push_back(run.run);
    return names;
  }
};

TEST_F(Compare, PrintsOneTableOfRuns) {
  make_run("a", {{"results.json", kResults}});
  make_run("汤姆", {{"results.json", with("97.25", "8.5")}});
  EXPECT_EQ(printed(read({"a", "汤姆"})),
            "run   mechanism           parameters  dev BLEU  test BLEU   chrF   TER  perplexity    AER  tokens/s  "
            "peak memory  training\n"
            "a     additive + softmax     423,104     96.10      97.25  98.50  1.50        1.10  3.4 %    12,346  "
            "     250 MB      41 s\n"
            "汤姆  additive + softmax     423,104     96.10       8.50  98.50  1.50        1.10  3.4 %    12,346  "
            "     250 MB      41 s\n");
}

TEST_F(Compare, LeavesOutColumnsThatNoRunHas) {
  make_run("a", {{"results.json", R"({"mechanism": "fixed", "dev": {"bleu": 20.0, "chrf": 30}})"}});
  EXPECT_EQ(printed(read({"a"})),
            "run  mechanism  dev BLEU   chrF\n"
            "a    fixed         20.00  30.00\n");
}

TEST_F(Compare, ShowsAnUnfinishedRunAndHowToFinishIt) {
  make_run("a", {{"results.json", kResults}});
  make_run("going", {{"metrics.jsonl",
                      "{\"step\": 10, \"tokens\": 1000, \"seconds\": 1}\n"
                      "{\"step\": 20, \"dev_bleu\": 30.0, \"dev_perplexity\": 3.0, \"seconds\": 2}\n"
                      "{\"step\": 30, \"dev_bleu\": 20.0, \"dev_perplexity\": 4.0, \"tokens\": 500, \"seconds\": 3}\n"
                      "{\"step\": 40, \"dev_bl"}});
  const auto runs = read({"a", "going"});
  EXPECT_EQ(runs[1].mechanism, "dot + softmax");
  EXPECT_EQ(runs[1].figures.at("dev bleu"), 30.0);
  EXPECT_EQ(runs[1].figures.at("dev perplexity"), 3.0);
  EXPECT_FALSE(runs[1].tokens_per_second);  // only a checkpoint knows the time of the steps alone
  EXPECT_EQ(runs[1].seconds, 3.0);
  EXPECT_TRUE(says(printed(runs), {"\na ", "\ngoing  dot + softmax",
                                   "\ngoing: no results.json yet, figures up to step 30; finish it: "}))
      << printed(runs);
}

TEST_F(Compare, ReadsTheStateOfACheckpoint) {
  const std::string header =
      R"({"__metadata__":{"state":"{\"parameters\":1234,\"threads\":3,\"train_state\":{\"tokens\":600,\"step_seconds\":4}}"}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  make_run("going", {{"checkpoint.safetensors", bytes + header}});
  make_run("torn", {{"checkpoint.safetensors", "\xff\xff\xff\xff\xff\xff\xff\xff{"}});
  make_run("short", {{"checkpoint.safetensors", "abc"}});
  const auto runs = read({"going", "torn", "short"});
  EXPECT_EQ(runs[0].parameters, 1234.0);
  EXPECT_EQ(runs[0].tokens_per_second, 150.0);
  EXPECT_TRUE(says(runs[0].missing, {"finish it: ", " --threads 3 train --resume "}));
  EXPECT_FALSE(runs[1].parameters || runs[2].parameters);
}

TEST_F(Compare, SaysThatResultsAreDamaged) {
  make_run("a", {{"results.json", "{\"run\": "}});
  EXPECT_TRUE(says(printed(read({"a"})), {"a    dot + softmax", "a: results.json is damaged"}));
}

TEST_F(Compare, InfersTheMechanismOfOldRuns) {
  make_run("a",
           {{"config.json", R"({"model": {"attention": {"kind": "mechanism", "score": "dot", "align": "hard"}}})"}});
  make_run("b", {{"config.json", R"({"model": {"attention": {"kind": "fixed"}}})"}});
  make_run("c", {{"config.json", "[]"}});
  const auto runs = read({"a", "b", "c"});
  EXPECT_EQ(runs[0].mechanism, "dot + hard");
  EXPECT_EQ(runs[1].mechanism, "fixed");
  EXPECT_EQ(runs[2].mechanism, "");
}

TEST_F(Compare, NamesFiguresThatAreNotComparable) {
  make_run("a", {{"results.json", kResults}});
  make_run("b", {{"results.json",
                  with("97.25, \"bleu_signature\": \"tok:none\"", "97.25, \"bleu_signature\": \"tok:zh\"")}});
  make_run("c", {{"results.json", with("\"threads\": 1", "\"threads\": 2")}});
  EXPECT_TRUE(says(printed(read({"a", "b"})), {"test BLEU signature differ: tok:none, tok:zh"}));
  EXPECT_TRUE(
      says(printed(read({"a", "c"})), {"cpu, 2 threads", "tokens/s and time were measured on different devices"}));
  EXPECT_EQ(printed(read({"a", "a"})).find("\n\n"), std::string::npos);  // no remarks
}

TEST_F(Compare, SortsByAColumnWithTheBestFirst) {
  make_run("low", {{"results.json", with("97.25", "8.5")}});
  make_run("none", {});
  make_run("high", {{"results.json", kResults}});
  auto runs = read({"low", "none", "high"});
  sort_runs(runs, "");
  EXPECT_EQ(names_of(runs), (std::vector<std::string>{"low", "none", "high"}));
  sort_runs(runs, "bleu");
  EXPECT_EQ(names_of(runs), (std::vector<std::string>{"high", "low", "none"}));
  sort_runs(runs, "run");
  EXPECT_EQ(names_of(runs), (std::vector<std::string>{"high", "low", "none"}));
  sort_runs(runs, "mechanism");
  EXPECT_EQ(names_of(runs), (std::vector<std::string>{"high", "low", "none"}));
  runs[0].figures["test aer"] = 0.5;
  sort_runs(runs, "aer");
  EXPECT_EQ(names_of(runs), (std::vector<std::string>{"low", "high", "none"}));
  for (const auto& key : run_sort_keys()) sort_runs(runs, key);
}

TEST_F(Compare, SortsByDevWithoutATestSet) {
  make_run("a", {{"results.json", R"({"dev": {"bleu": 20.0}})"}});
  make_run("b", {{"results.json", R"({"dev": {"bleu": 30.0}})"}});
  for (const auto* key : {"bleu", "dev_bleu"}) {
    auto runs = read({"a", "b"});
    sort_runs(runs, key);
    EXPECT_EQ(names_of(runs), (std::vector<std::string>{"b", "a"})) << key;
  }
}

TEST_F(Compare, FindsTheRunsOfAFolderOnce) {
  make_run("runs/demo/fixed", {});
  make_run("runs/demo/additive", {});
  make_run("runs/.new.new", {});
  make_run("runs/toy", {});
  const auto found = run_folders({path("runs/demo/fixed/"), path("runs")});
  EXPECT_EQ(found, (std::vector<std::string>{path("runs/demo/fixed"), path("runs/demo/additive"), path("runs/toy")}));
}

TEST_F(Compare, RefusesAFolderWithoutRuns) {
  make_run("runs/additive", {});
  make_folders(path("empty"));
  EXPECT_TRUE(says(refusal("runs/aditive"),
                   {"compare: got '", "aditive' (did you mean 'additive'?), expected the folder of a run"}));
  EXPECT_TRUE(says(refusal("empty"), {"which has no run in it; expected a run folder, written by heed train"}));
}

TEST_F(Compare, WritesJsonAndMarkdown) {
  make_run("a", {{"results.json", kResults}});
  make_run("b", {});
  std::ostringstream json, markdown;
  print_comparison_json(json, read({"a", "b"}));
  const auto report = nlohmann::json::parse(json.str()), all = report["runs"];
  EXPECT_EQ(report["provenance"]["seeds"], nlohmann::json::parse("[3]"));
  EXPECT_EQ(report["provenance"]["data"]["data.dev"], "0123456789");
  EXPECT_TRUE(report["provenance"]["command"].is_string());
  EXPECT_EQ(all[0]["peak_memory"], 250400000);
  EXPECT_EQ(all[0]["mechanism"], "additive + softmax");
  EXPECT_EQ(all[0]["test"]["aer"], 0.034);
  EXPECT_EQ(all[0]["tokens_per_second"], 12345.6);
  EXPECT_TRUE(all[0]["missing"].is_null());
  EXPECT_TRUE(all[1]["parameters"].is_null());
  EXPECT_TRUE(all[1]["missing"].is_string());
  print_comparison_markdown(markdown, read({"a"}));
  EXPECT_EQ(markdown.str().substr(0, 27), "| run | mechanism | paramet");
  EXPECT_TRUE(says(markdown.str(), {"|---|---|---:|", "| a | additive + softmax | 423,104 |", "\n- seed: `3`\n",
                                    "\n- data (md5): `data.dev 01234567`\n"}));
}

TEST_F(Compare, FitsANarrowTerminal) {
  make_run("a", {{"results.json", kResults}});
  EXPECT_TRUE(says(printed(read({"a"}), 60), {"a\n  mechanism    additive + softmax\n  parameters   423,104\n"}));
}

}  // namespace
}  // namespace heed::cli
