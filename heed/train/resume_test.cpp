// Interrupted and resumed runs: what they keep, and what they refuse.

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>

#include <gtest/gtest.h>

#include "heed/models/translate/translator.h"
#include "heed/train/run/checkpoint.h"
#include "heed/train/testing_run.h"

namespace heed::testing {
namespace {

void expect_said(const std::string& said, const std::vector<std::string>& parts) {
  for (const auto& part : parts) EXPECT_NE(said.find(part), std::string::npos) << part << " is missing in: " << said;
}

void expect_refused_resume(const std::string& run, const std::vector<std::string>& parts,
                           const std::vector<std::string>& overrides = {}) {
  expect_said(refusal([&] { resume_tiny(run, overrides); }), parts);
}

// ---- the run folder ----

TEST(Run, IsNotDestroyedWhenItsCheckpointIsGone) {
  const Folder folder;
  const std::string run = folder.path("run");
  train_tiny(run, {"train.max_steps=2"});
  ::unlink((run + "/checkpoint.safetensors").c_str());
  const auto names = Folder::names(run);
  expect_said(refusal([&] { train_tiny(run); }), {"already holds a run", "--force"});
  EXPECT_EQ(Folder::names(run), names);
  EXPECT_TRUE(exists(run + "/model.safetensors"));
}

TEST(Run, IsWholeWhenAStartOverFails) {
  const Folder folder;
  const std::string run = folder.path("run");
  train_tiny(run, {"train.max_steps=2"});
  const auto before = tensors_of(run);
  EXPECT_NE(refusal([&] {
              train_tiny(run, {"train.max_steps=2", "data.train=none.tsv", "data.dev=none.tsv"}, {.force = true});
            }),
            "nothing was refused");
  EXPECT_TRUE(same_tensors(tensors_of(run), before));
  EXPECT_EQ(Folder::names(folder.path()), std::vector<std::string>{"run"});
  resume_tiny(run, {"train.max_steps=3"});
}

TEST(Run, IsStartedOverOrResumedButNotBoth) {
  const Folder folder;
  train_tiny(folder.path("run"), {"train.max_steps=1"});
  expect_said(refusal([&] { train_tiny(folder.path("run"), {}, {.resume = true, .force = true}); }),
              {"--resume", "--force", "expected one of them"});
}

TEST(Run, LeavesNothingWhereItsRecipeIsWrong) {
  const Folder folder;
  EXPECT_NE(refusal([&] { train_tiny(folder.path("runs/a"), {"train.lr=fast"}); }), "nothing was refused");
  EXPECT_NE(refusal([&] { train_tiny(folder.path("runs/a"), {"model.query.kind=none"}); }), "nothing was refused");
  EXPECT_TRUE(Folder::names(folder.path()).empty());
}

TEST(Run, EndsWithACheckpointOnEverySignalThatAsksForIt) {
  for (const int number : {SIGHUP, SIGUSR1, SIGQUIT, SIGTERM, SIGINT}) {
    std::signal(number, SIG_DFL);  // nohup and shells ignore some, and so would the run
    const Folder folder;
    const std::string run = folder.path("run");
    std::thread sender([&] {
      while (!exists(run + "/metrics.jsonl") || read_file(run + "/metrics.jsonl").empty()) ::usleep(1000);
      ::kill(::getpid(), number);
    });
    const TrainResult result = train_tiny(run, {"train.max_steps=1000000", "train.checkpoint_every=1000000",
                                                "train.log_every=1", "train.validate_every=1000000"});
    sender.join();
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(result.signal, number);
    EXPECT_EQ(load_checkpoint(run + "/checkpoint.safetensors").state.object("train_state").integer("step"),
              result.step);
    expect_said(read_file(run + "/log.txt"), {"stopped at step ", "train --resume " + run});
  }
}

// ---- a full disk ----

/// Limits the size of files of this process during its lifetime, to simulate a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(Run, KeepsItsLastCheckpointWhenNoMoreCanBeWritten) {
  const Folder folder;
  const std::string whole = folder.path("whole"), run = folder.path("run");
  train_tiny(whole);
  train_tiny(run, {"train.max_steps=10"});
  const std::string checkpoint = read_file(run + "/checkpoint.safetensors");
  std::string said;
  {
    const FileSizeLimit limit(8000);
    said = refusal([&] { resume_tiny(run); });
  }
  expect_said(said, {run + "/checkpoint.safetensors", "cannot be written", "File too large", "last checkpoint is whole",
                     "train --resume " + run});
  EXPECT_EQ(read_file(run + "/checkpoint.safetensors"), checkpoint);
  for (const auto& name : Folder::names(run)) EXPECT_EQ(name.find(".part"), std::string::npos) << name;
  resume_tiny(run);
  EXPECT_TRUE(same_tensors(tensors_of(run), tensors_of(whole)));
  EXPECT_EQ(metrics_without_times(run), metrics_without_times(whole));
}

TEST(Run, LeavesTheOldOneWhenTheNewOneCannotBeWritten) {
  const Folder folder;
  const std::string run = folder.path("run");
  train_tiny(run, {"train.max_steps=2"});
  const std::string checkpoint = read_file(run + "/checkpoint.safetensors");
  std::string said;
  {
    const FileSizeLimit limit(8000);
    said = refusal([&] { train_tiny(run, {"train.seed=2"}, {.force = true}); });
  }
  expect_said(said, {"cannot be written", "nothing of the run was kept"});
  EXPECT_EQ(read_file(run + "/checkpoint.safetensors"), checkpoint);
  EXPECT_EQ(Folder::names(folder.path()), std::vector<std::string>{"run"});
}

// ---- what a resume goes on with ----

TEST(Resume, KeepsTheStateOfAPlateau) {
  const Folder folder;
  const std::vector<std::string> plateau{"train.schedule=plateau(0.5, patience=1)", "train.validate_every=2",
                                         "train.log_every=1", "train.lr=0.5", "eval.monitor=loss"};
  const auto with_steps = [&](const char* steps) {
    auto all = plateau;
    all.push_back(steps);
    return all;
  };
  const std::string whole = folder.path("whole"), parts = folder.path("parts");
  train_tiny(whole, with_steps("train.max_steps=30"));
  train_tiny(parts, with_steps("train.max_steps=10"));
  resume_tiny(parts, with_steps("train.max_steps=18"));
  resume_tiny(parts, with_steps("train.max_steps=30"));
  EXPECT_EQ(metrics_without_times(parts), metrics_without_times(whole));
  const double last = metrics_without_times(whole).at(28).value("lr", 0.5);
  EXPECT_LT(last, 0.5) << "the plateau was never reached, so nothing was tested";
}

TEST(Resume, KeepsTheBestModelWhenTheRunGetsWorse) {
  const Folder folder;
  const std::string run = folder.path("run");
  const std::vector<std::string> options{"train.ema_decay=0", "eval.monitor=loss", "train.validate_every=5"};
  train_tiny(run, options);
  const std::string best = read_file(run + "/model.safetensors");
  auto worse = options;
  worse.insert(worse.end(), {"train.max_steps=40", "train.lr=3"});
  const TrainResult result = resume_tiny(run, worse);
  EXPECT_EQ(result.step, 40);
  EXPECT_LE(result.results.at("best_step").get<int64_t>(), 24);
  EXPECT_EQ(read_file(run + "/model.safetensors"), best);
}

TEST(Resume, KeepsItsPatience) {
  const Folder folder;
  const std::string run = folder.path("run");
  // Nothing is learned at this rate: the first validation is the best, the third one after it ends the run.
  const std::vector<std::string> options{"train.lr=1e-30",         "train.optimizer=sgd", "train.ema_decay=0",
                                         "train.validate_every=1", "train.patience=3",    "eval.monitor=loss"};
  auto first = options, second = options;
  first.emplace_back("train.max_steps=3");
  second.emplace_back("train.max_steps=50");
  train_tiny(run, first);
  EXPECT_EQ(resume_tiny(run, second).step, 4);
}

TEST(Resume, RefusesOtherData) {
  const Folder folder;
  const std::string run = folder.path("run");
  const auto write_lines = [&](const char* name, const std::string& last) {
    std::ofstream file(folder.path(name));
    for (int i = 0; i < 40; ++i) file << "a b c " << i % 7 << "\n";
    file << last << "\n";
  };
  for (const char* name : {"train.en", "train.de", "dev.en", "dev.de"}) write_lines(name, "d e");
  const std::vector<std::string> files{"data={root: " + folder.path() +
                                       ", train: [train.en, train.de], dev: [dev.en, dev.de], tokenizer: words}"};
  const auto with_steps = [&](const char* steps) { return std::vector<std::string>{files[0], steps}; };
  train_tiny(run, with_steps("train.max_steps=4"));
  resume_tiny(run, with_steps("train.max_steps=5"));
  for (const char* name : {"train.de", "train.en", "dev.de"}) {
    write_lines(name, "d f");
    expect_refused_resume(run, {std::string(name), "other data", "--force"}, with_steps("train.max_steps=6"));
    write_lines(name, "d e");
  }
  resume_tiny(run, with_steps("train.max_steps=6"));
}

TEST(Resume, ComparesTheRecipeWithTheCheckpointNotWithAnEditedFile) {
  const Folder folder;
  const std::string run = folder.path("run");
  train_tiny(run, {"train.max_steps=2"});
  std::string recipe = read_file(run + "/recipe.yaml");
  const size_t at = recipe.find("seed: 1", recipe.find("train:\n"));
  ASSERT_NE(at, std::string::npos) << recipe;
  recipe.replace(at, 7, "seed: 2");
  write_atomically(run + "/recipe.yaml", recipe);
  expect_said(refusal([&] {
                train(read_recipe(run + "/recipe.yaml", {"run.dir=" + run, "train.max_steps=3"}),
                      {.resume = true, .quiet = true});
              }),
              {"train.seed is 2", "began with 1"});
}

/// Changes the state of the checkpoint and updates its checksum.
void change_state(const std::string& run, const std::function<void(nlohmann::json&)>& change) {
  const std::string path = run + "/checkpoint.safetensors";
  Safetensors saved = load_safetensors(path);
  auto state = nlohmann::json::parse(saved.metadata.at("state"));
  change(state);
  save_checked(path, saved.tensors, {{"state", state.dump()}});
}

void change_tensors(const std::string& run, const std::function<void(NamedTensors&)>& change) {
  const std::string path = run + "/checkpoint.safetensors";
  Safetensors saved = load_safetensors(path);
  change(saved.tensors);
  save_checked(path, saved.tensors, {{"state", saved.metadata.at("state")}});
}

TEST(Resume, RefusesAnInvalidState) {
  const Folder folder;
  const std::string run = folder.path("run");
  train_tiny(run, {"train.max_steps=12"});
  const std::string path = run + "/checkpoint.safetensors", checkpoint = read_file(path);
  const std::vector<std::pair<std::string, nlohmann::json>> wrong{{"/train_state/step", 1.5},
                                                                  {"/train_state/step", -1},
                                                                  {"/train_state/position", 1e9},
                                                                  {"/train_state/position", 1000000},
                                                                  {"/train_state/epoch", -1},
                                                                  {"/train_state/loss", nullptr},
                                                                  {"/train_state/best_step", 99},
                                                                  {"/train_state/done", 1},
                                                                  {"/metrics", -1},
                                                                  {"/metrics", 1000000},
                                                                  {"/events", "7"},
                                                                  {"/stopping", nullptr},
                                                                  {"/stopping/waited", "no"},
                                                                  {"/threads", nullptr},
                                                                  {"/world", 7},
                                                                  {"/device", 3},
                                                                  {"/parameters", 3},
                                                                  {"/format", 4},
                                                                  {"/data", 3},
                                                                  {"/config", "0"},
                                                                  {"/recipe", "train: [a"},
                                                                  {"/average", 7}};
  for (const auto& [pointer, value] : wrong) {
    change_state(run, [&](auto& state) { state[nlohmann::json::json_pointer(pointer)] = value; });
    const std::string said = refusal([&] { resume_tiny(run); });
    EXPECT_NE(said, "nothing was refused") << pointer << " " << value;
    EXPECT_EQ(said.find("exception"), std::string::npos) << said;
    write_atomically(path, checkpoint);
  }
  for (const char* key : {"train_state", "metrics", "events", "schedule", "stopping", "task", "data", "recipe",
                          "config", "average", "threads", "world", "device", "parameters", "format"}) {
    change_state(run, [&](auto& state) { state.erase(key); });
    const std::string said = refusal([&] { resume_tiny(run); });
    EXPECT_NE(said.find(path), std::string::npos) << key << ": " << said;
    write_atomically(path, checkpoint);
  }
}

TEST(Resume, RefusesTensorsOfAnotherModel) {
  const Folder folder;
  const std::string run = folder.path("run");
  train_tiny(run, {"train.max_steps=12"});
  const std::string path = run + "/checkpoint.safetensors", checkpoint = read_file(path);
  const auto expect = [&](const char* part, const std::function<void(NamedTensors&)>& change) {
    change_tensors(run, change);
    const std::string said = refusal([&] { resume_tiny(run); });
    expect_said(said, {path, part});
    write_atomically(path, checkpoint);
  };
  expect("'values'", [](auto& t) { t.erase("values"); });
  expect("'optimizer.m'", [](auto& t) { t.erase("optimizer.m"); });
  expect("'average'", [](auto& t) { t.erase("average"); });
  expect("'other'", [](auto& t) { t["other"] = at::ones({1}); });
  expect("[1]", [](auto& t) { t["values"] = at::ones({1}); });
  expect("Double", [](auto& t) { t["values"] = t["values"].to(at::kDouble); });
  expect("NaN", [](auto& t) { t["optimizer.v"][3] = NAN; });
}

// ---- using the model of a run ----

void edit_json(const std::string& path, const std::function<void(nlohmann::ordered_json&)>& change) {
  auto json = nlohmann::ordered_json::parse(read_file(path));
  change(json);
  write_atomically(path, json.dump());
}

TEST(SavedModel, RefusesWhatDoesNotBelongToIt) {
  const Folder folder;
  const std::string run = folder.path("run");
  train_tiny(run, {"train.max_steps=2"});
  const auto expect = [&](const std::string& name, const std::vector<std::string>& parts,
                          const std::function<void(nlohmann::ordered_json&)>& change) {
    const std::string own = read_file(run + name);
    edit_json(run + name, change);
    expect_said(refusal([&] { Translator::load(run, at::kCPU); }), parts);
    write_atomically(run + name, own);
  };
  const std::string config = run + "/config.json", source = run + "/tokenizer.source.json";
  expect("/config.json", {config, "got format 1, expected 3", "heed 0.1.0"}, [](auto& json) { json.erase("format"); });
  expect("/config.json", {config, "got format 7, expected 3", "\"8.9\" reads it"}, [](auto& json) {
    json["format"] = 7;
    json["heed"] = "8.9";
  });
  expect("/config.json", {config, "got md5 ", "model.safetensors"}, [](auto& json) { json["lower"] = true; });
  expect("/config.json", {config, "tokenizers"}, [](auto& json) { json.erase("tokenizers"); });
  expect("/tokenizer.source.json", {source, "got md5 ", "of another run"},
         [](auto& json) { std::swap(json["model"]["vocab"]["Tom"], json["model"]["vocab"]["Jerry"]); });
  write_atomically(config, "{\"format\": 3,");
  expect_said(refusal([&] { Translator::load(run, at::kCPU); }), {config, "not JSON"});
}

TEST(SavedModel, IsRefusedWithoutFiniteValues) {
  const Folder folder;
  const std::string run = folder.path("run"), path = run + "/model.safetensors";
  train_tiny(run, {"train.max_steps=2"});
  Safetensors saved = load_safetensors(path);
  saved.tensors.begin()->second.fill_(NAN);
  save_checked(path, saved.tensors, {{"format", "3"}, {"config", saved.metadata.at("config")}});
  expect_said(refusal([&] { Translator::load(run, at::kCPU); }), {path, saved.tensors.begin()->first, "NaN"});
  save_safetensors(path, saved.tensors, {});
  expect_said(refusal([&] { Translator::load(run, at::kCPU); }), {path, "got format 1, expected 3"});
}

TEST(Resume, RefusesFilesOfAnotherRun) {
  const Folder folder;
  const std::string run = folder.path("run"), other = folder.path("other");
  train_tiny(run, {"train.max_steps=2"});
  train_tiny(other, {"train.max_steps=2", "data.grammar.seed=2", "model.embedding.dropout=0"});
  for (const char* name : {"/config.json", "/tokenizer.source.json"}) {
    const std::string own = read_file(run + name);
    ASSERT_NE(own, read_file(other + name));
    write_atomically(run + name, read_file(other + name));
    expect_refused_resume(run, {run + name, "of another run"});
    write_atomically(run + name, own);
  }
}

}  // namespace
}  // namespace heed::testing
