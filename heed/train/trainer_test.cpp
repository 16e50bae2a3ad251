// A run from a recipe: its files, stopping and resuming.

#include "heed/train/trainer.h"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "heed/attention/testing.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/torch_support/safetensors.h"
#include "heed/train/run/testing_folder.h"

namespace heed::testing {
namespace {

constexpr const char* kSmall = R"(task: translate
data: {train: grammar, grammar: {train: 300, dev: 20, test: 10}, tokenizer: words}
model:
  embedding: {dim: 16, dropout: 0.2}
  features: {kind: recurrent, dim: 16}
  query: {kind: bahdanau, state_dim: 16, out_dim: 16}
  attention: {mechanism: additive + softmax, dropout: 0.1}
train: {max_steps: 24, max_epochs: 0, batch_tokens: 300, lr: 0.01, checkpoint_every: 5, log_every: 2, validate_every: 10, ema_decay: 0.9, label_smoothing: 0.1}
eval: {tokenize: none, beam: 2}
)";

TrainResult train_small(const std::string& folder, std::vector<std::string> overrides = {}, TrainCall call = {}) {
  overrides.push_back("run.dir=" + folder);
  call.quiet = true;
  return train(parse_recipe(kSmall, "small", overrides), call);
}

Tensor weights_of(const std::string& folder) {
  return load_safetensors(folder + "/checkpoint.safetensors").tensors.at("values");
}

std::vector<nlohmann::json> metrics_of(const std::string& folder) {
  std::vector<nlohmann::json> lines;
  std::ifstream file(folder + "/metrics.jsonl");
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

std::vector<double> losses_of(const std::string& folder) {
  std::vector<double> losses;
  for (const auto& line : metrics_of(folder))
    if (line.contains("loss")) losses.push_back(line.at("loss"));
  return losses;
}

/// The metrics without times: they must not depend on when a run was stopped.
std::string timeless(const std::string& folder) {
  std::string text;
  for (auto line : metrics_of(folder)) {
    line.erase("seconds");
    line.erase("tokens_per_second");
    text += line.dump() + "\n";
  }
  return text;
}

std::string refusal_of(const std::vector<std::string>& overrides) {
  const Folder folder;
  return refusal([&] { train_small(folder.path("run"), overrides); });
}

/// The message for an invalid recipe contains these parts.
void expect_refused(const std::vector<std::string>& overrides, const std::vector<std::string>& parts) {
  const std::string said = refusal_of(overrides);
  for (const auto& part : parts) EXPECT_NE(said.find(part), std::string::npos) << part << " is missing in: " << said;
}

TEST(Trainer, WritesARunFolderThatHoldsEverything) {
  const Folder folder;
  const std::string run = folder.path("run");
  const TrainResult result = train_small(run);
  EXPECT_EQ(result.step, 24);
  for (const char* file : {"/recipe.yaml", "/config.json", "/tokenizer.source.json", "/tokenizer.target.json",
                           "/model.safetensors", "/checkpoint.safetensors", "/metrics.jsonl",
                           "/events.out.tfevents.0.heed", "/log.txt", "/results.json", "/test.hypotheses.txt"})
    EXPECT_TRUE(exists(run + file)) << file;
  EXPECT_TRUE(result.results["test"].contains("aer"));
  EXPECT_EQ(result.results["mechanism"], "additive + softmax");
  EXPECT_EQ(nlohmann::json::parse(read_file(run + "/config.json"))["mechanism"], "additive + softmax");
  const auto metrics = metrics_of(run);
  std::vector<int64_t> steps;
  for (const auto& line : metrics)
    if (line.contains("loss")) steps.push_back(line.at("step"));
  EXPECT_EQ(steps, (std::vector<int64_t>{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24}));
  EXPECT_LT(metrics.back().at("step"), 25);
  EXPECT_EQ(recipe_yaml(read_recipe(run + "/recipe.yaml")), read_file(run + "/recipe.yaml"));
}

TEST(Trainer, GoesOnFromACheckpointAsIfItHadNeverStopped) {
  const Folder folder;
  const std::string whole = folder.path("whole"), parts = folder.path("parts");
  train_small(whole);
  train_small(parts, {"train.max_steps=7"});
  for (const char* steps : {"train.max_steps=13", "train.max_steps=24"}) train_small(parts, {steps}, {.resume = true});
  EXPECT_TRUE(weights_of(parts).equal(weights_of(whole)));
  const auto average = [](const std::string& run) {
    return load_safetensors(run + "/checkpoint.safetensors").tensors.at("average");
  };
  EXPECT_TRUE(average(parts).equal(average(whole)));
}

TEST(Trainer, CutsItsFilesBackToTheCheckpointItGoesOnFrom) {
  const Folder folder;
  const std::string whole = folder.path("whole"), cut = folder.path("cut");
  train_small(whole);
  train_small(cut, {"train.max_steps=10"});
  std::ofstream(cut + "/metrics.jsonl", std::ios::app)
      << R"({"step": 12, "loss": 9.9})" << '\n';  // after the checkpoint
  train_small(cut, {}, {.resume = true});
  EXPECT_EQ(timeless(cut), timeless(whole));
}

TEST(Trainer, GivesTheSameWeightsTwice) {
  const Folder folder;
  train_small(folder.path("a"), {"train.max_steps=6"});
  train_small(folder.path("b"), {"train.max_steps=6"});
  train_small(folder.path("c"), {"train.max_steps=6", "train.seed=2"});
  EXPECT_TRUE(weights_of(folder.path("a")).equal(weights_of(folder.path("b"))));
  EXPECT_FALSE(weights_of(folder.path("a")).equal(weights_of(folder.path("c"))));
}

TEST(Trainer, LearnsWithEveryKindOfModel) {
  const Folder folder;
  for (const char* query : {"bahdanau", "luong"})
    for (const char* attention : {"general + softmax", "additive + local_p(3)", "fixed", "mean", "additive + hard"}) {
      const std::string run = folder.path(std::string(query) + std::to_string(std::hash<std::string>{}(attention)));
      train_small(run, {std::string("model.query.kind=") + query, std::string("model.attention=") + attention});
      const auto losses = losses_of(run);
      EXPECT_LT(losses.back(), losses.front()) << query << ", " << attention;
    }
}

TEST(Trainer, TrainsATransformerAndAStructure) {
  const Folder folder;
  const std::vector<std::string> transformer{"model.query={kind: transformer, num_layers: 1, num_heads: 2}",
                                             "model.features={kind: transformer, num_layers: 1, num_heads: 2}",
                                             "model.attention=additive + entmax(1.5)", "model.embedding.dim=16"};
  train_small(folder.path("t"), transformer);
  train_small(folder.path("s"), {"model.attention={mechanism: additive + softmax, structure: multi_hop(hops=2)}"});
  for (const char* run : {"t", "s"}) EXPECT_LT(metrics_of(folder.path(run)).back().value("dev_loss", 99.0), 6.0) << run;
}

TEST(Trainer, AddsUpBatchesToOneStep) {
  const Folder folder;
  train_small(folder.path("a"), {"train.max_steps=3", "train.accumulate=4"});
  EXPECT_GT(metrics_of(folder.path("a")).front().at("tokens"), 1200);  // of two steps of four batches of up to 300
}

TEST(Trainer, RefusesAFolderThatHoldsARun) {
  const Folder folder;
  train_small(folder.path("run"), {"train.max_steps=1"});
  EXPECT_NE(refusal([&] { train_small(folder.path("run")); }).find("--resume"), std::string::npos);
  train_small(folder.path("run"), {"train.max_steps=1"}, {.force = true});
  EXPECT_NE(refusal([&] { train_small(folder.path("none"), {}, {.resume = true}); }).find("nothing to resume"),
            std::string::npos);
}

TEST(Trainer, RefusesWrongRecipesByTheirKeys) {
  expect_refused({"train.learning_rate=1"}, {"train.learning_rate"});
  expect_refused({"train.max_epoch=1"}, {"train.max_epoch", "did you mean", "max_epochs"});
  expect_refused({"train.lr=fast"}, {"train.lr", "'fast'", "number"});
  expect_refused({"model.embedding.dim=-3"}, {"model.embedding.dim", "-3"});
  expect_refused({"model.attention.score=aditive"}, {"model.attention.score", "'aditive'", "did you mean 'additive'"});
  expect_refused({"model.attention.align=softmox"}, {"model.attention.align", "'softmox'", "softmax"});
  expect_refused({"model.attention=aditive + softmax"}, {"model.attention", "aditive", "did you mean"});
  expect_refused({"model.attention.dimensionality=triple"}, {"model.attention.dimensionality", "triple"});
  expect_refused({"model.attention.score=dot", "model.features.dim=20"}, {"model.attention", "dot"});
  expect_refused({"model.query.kind=bahdanu"}, {"model.query.kind", "bahdanau"});
  expect_refused({"model.features.dim=17"}, {"model.features.dim", "17", "even"});
  expect_refused({"model.attention.structure=rotatory"}, {"rotatory"});
  expect_refused({"train.optimizer=adm"}, {"train.optimizer", "adam"});
  expect_refused({"train.schedule=cosin"}, {"train.schedule", "cosine"});
  expect_refused({"train.device=gpu"}, {"train.device", "cuda"});
  expect_refused({"data.tokenizer=bpee"}, {"data.tokenizer", "bpe"});
  expect_refused({"task=translat"}, {"task", "translate"});
}

TEST(Trainer, KeepsTheShortFormOfAMechanismOpenForOverrides) {
  const Folder folder;
  train_small(folder.path("run"), {"model.attention.align=sparsemax", "train.max_steps=1"});
  const std::string recipe = read_file(folder.path("run") + "/recipe.yaml");
  EXPECT_NE(recipe.find("align: sparsemax"), std::string::npos) << recipe;
  EXPECT_EQ(recipe.find("mechanism: additive"), std::string::npos) << recipe;
}

}  // namespace
}  // namespace heed::testing
