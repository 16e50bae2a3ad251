// Runs heed ablate as a user does, and kills it.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "apps/cli/testing_program.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/data/testing.h"

namespace heed::cli {
namespace {

using testing::says;
using Json = nlohmann::json;

constexpr const char* kRecipe = R"(task: classify
data: {train: reviews, reviews: {train: 400, dev: 60, test: 100}, lowercase: true, tokenizer: words}
model:
  embedding: {dim: 16, dropout: 0.1}
  features: {kind: convolution, dim: 16, widths: [1, 3]}
  attention: self_attentive + softmax
train: {max_epochs: 0, max_steps: 60, batch_tokens: 400, lr: 0.003, validate_every: 20, checkpoint_every: 5}
)";

class ProgramAblate : public testing::FolderTest {
 protected:
  ProgramAblate() { std::ofstream(path("toy.yaml")) << kRecipe; }

  static std::vector<std::string> command(const std::string& folder, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{
        "ablate",  "toy.yaml", "--vary", "model.attention=self_attentive + softmax,mean,nothing",
        "--seeds", "2",        "--out",  folder};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Outcome run(const std::vector<std::string>& arguments) const { return Process(folder_, arguments).wait(); }

  /// Starts the command in a process group of its own and kills all of it.
  void kill_after(const std::string& file, const std::vector<std::string>& arguments) {
    std::vector<std::string> all{HEED_PROGRAM};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> words;
    for (auto& word : all) words.push_back(word.data());
    words.push_back(nullptr);
    const pid_t group = ::fork();
    if (group == 0) {
      ::setpgid(0, 0);
      if (::chdir(folder_.c_str()) != 0) ::_exit(126);
      if (std::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(125);
      ::execv(words[0], words.data());
      ::_exit(127);
    }
    ::setpgid(group, group);
    for (int tries = 0; contents(path(file)).empty() && tries < 4000; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ::kill(-group, SIGKILL);
    ::waitpid(group, nullptr, 0);
  }
  Json results(const std::string& folder) const { return Json::parse(contents(path(folder + "/results.json"))); }
};

TEST_F(ProgramAblate, AGridThatIsKilledTwiceEndsAsOneThatIsNot) {
  const Outcome whole = run(command("whole"));
  EXPECT_EQ(whole.code, kFailed) << whole.err;  // a cell is refused
  EXPECT_TRUE(says(whole.out, {"0/2, 2 failed", "attention=nothing: 2 runs failed: recipe:", "results.html"}));
  kill_after("cut/attention=self_attentive+softmax/seed-1/metrics.jsonl", command("cut"));
  EXPECT_FALSE(std::ifstream(path("cut/results.json")).good());
  kill_after("cut/attention=mean/seed-2/log.txt", command("cut"));
  const Outcome cut = run(command("cut"));
  EXPECT_EQ(cut.code, kFailed) << cut.err;
  const Json ours = results("cut"), theirs = results("whole");
  ASSERT_EQ(ours["cells"].size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(ours["cells"][i]["runs"], theirs["cells"][i]["runs"]);
    EXPECT_EQ(ours["cells"][i]["figures"], theirs["cells"][i]["figures"]);
    EXPECT_EQ(ours["cells"][i]["against_first"], theirs["cells"][i]["against_first"]);
  }
  EXPECT_EQ(ours["cells"][0]["runs"]["finished"], 2);
  const std::string model = "/attention=mean/seed-2/model.safetensors";
  EXPECT_EQ(contents(path("cut" + model)), contents(path("whole" + model)));

  const std::string before = contents(path("cut/attention=mean/seed-1/log.txt"));
  run(command("cut"));
  EXPECT_EQ(contents(path("cut/attention=mean/seed-1/log.txt")), before);  // a finished run is not repeated
  const Outcome other = run(command("cut", {"train.max_steps=61"}));
  EXPECT_EQ(other.code, kFailed);
  EXPECT_TRUE(says(other.err, {"train.max_steps is '61', there '60'", "--out"}));
  EXPECT_TRUE(says(run({"ablate", "--table", "cut"}).out, {"test accuracy"}));
}

TEST_F(ProgramAblate, SaysWhatItWillTrainAndHowToGoOn) {
  const Outcome dry = run(command("dry", {"--dry-run", "train.max_steps=20"}));
  EXPECT_EQ(dry.code, kFailed) << dry.err;  // as the grid would
  EXPECT_TRUE(says(dry.out, {"3 cells x 2 seeds = 6 runs", "refused: attention=nothing: recipe: ", "time: about",
                             "disk: about", "temporary folder"}));
  EXPECT_FALSE(std::ifstream(path("dry/plan.json")).good());

  Process process(folder_, command("stopped", {"train.max_steps=100000", "--jobs", "1"}));
  EXPECT_TRUE(process.wait_for("stopped/attention=self_attentive+softmax/seed-1/metrics.jsonl"));
  make_folders(path("other"));  // of its output
  const Outcome second =
      Process(path("other"), {"ablate", "../toy.yaml", "--vary", "a=b", "--out", "../stopped"}).wait();
  EXPECT_TRUE(says(second.err, {"ablate: ../stopped is in use: process "}));
  process.send(SIGINT);
  const Outcome stopped = process.wait();
  EXPECT_EQ(stopped.code, kInterrupted);
  EXPECT_TRUE(says(stopped.err, {"go on with the same command: "}));
  EXPECT_TRUE(says(contents(path("stopped/attention=self_attentive+softmax/seed-1/log.txt")), {"stopped at step"}));
}

TEST_F(ProgramAblate, ADryRunSucceedsIfNoCellIsRefused) {
  const auto dry = [&](const std::string& values) {
    return run({"ablate", "toy.yaml", "--vary", "model.attention=" + values, "--seeds", "1", "--dry-run",
                "train.max_steps=20"});
  };
  EXPECT_EQ(dry("mean").code, 0);
  EXPECT_EQ(dry("nothing").code, kFailed);
}

TEST_F(ProgramAblate, RefusesWhatIsNoAblation) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--seeds", "none"}, {"--vary", "train.seed=1,2"}, {"--attention", "none.tsv"}}) {
    std::vector<std::string> all{"ablate", "toy.yaml", "--vary", "model.attention=mean", "--out", "refused/folder"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome refused = run(all);
    EXPECT_EQ(refused.code, kFailed) << more.front();
    EXPECT_TRUE(says(refused.err, {"ablate: "})) << more.front();
    EXPECT_FALSE(std::filesystem::exists(path("refused"))) << more.front();
  }
  EXPECT_TRUE(says(run({"ablate", "toy.yaml"}).err, {"ablate: got no --vary"}));
  EXPECT_TRUE(says(run({"ablate", "--table", "."}).err, {"without plan.json"}));
  EXPECT_TRUE(says(run(command(".")).err, {"ablate: . holds '", "no plan.json"}));
}

}  // namespace
}  // namespace heed::cli
