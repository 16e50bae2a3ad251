// Models that are trained with another run: an adversary, which gives its outputs by other attention weights, and a
// guided model, which attends with its weights.

#include "heed/models/classify/adversary.h"

#include <cmath>

#include <gtest/gtest.h>

#include "heed/models/classify/classifier.h"
#include "heed/train/testing_labels.h"

namespace heed::testing {
namespace {

const std::vector<std::string> kReviewsModel{
    "data.reviews={train: 400, dev: 60, test: 6}", "model.embedding={dim: 16, dropout: 0}",
    "model.features={kind: convolution, dim: 16}", "model.attention=additive + softmax", "train.batch_tokens=400"};

std::vector<std::string> with(std::vector<std::string> recipe, const std::vector<std::string>& more) {
  recipe.insert(recipe.end(), more.begin(), more.end());
  return recipe;
}

const std::vector<std::string> kReviewsRun =
    with(kReviewsModel, {"train.max_steps=160", "train.validate_every=40", "train.ema_decay=0"});

/// Mean TVD and JSD of two runs, on texts that neither was trained on.
struct Distances {
  double tvd = 0, jsd = 0;
};
Distances between(const std::vector<std::string>& model, const std::string& base, const std::string& run) {
  const auto task = labels_task(with(model, {"train.adversary.run=" + base}));
  load_parameters(task->model(), load_safetensors(run + "/model.safetensors").tensors, run);
  task->model().eval();
  Distances found;
  for (const auto& [name, value] : task->validate()) {
    if (name == "tvd") found.tvd = value;
    if (name == "jsd") found.jsd = value;
  }
  return found;
}

class OtherRun : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<Folder>();
    base_ = folder_->path("base");
    train_labels(base_, kReviewsRun);
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::string refused(const std::vector<std::string>& more) {
    return refusal([&] { labels_task(with(kReviewsModel, more)); });
  }
  static void expect_parts(const std::string& said, const std::vector<std::string>& parts) {
    for (const auto& part : parts) EXPECT_NE(said.find(part), std::string::npos) << part << " is missing in: " << said;
  }

  inline static std::unique_ptr<Folder> folder_;
  inline static std::string base_;
};

// Its outputs are those of the run, and its weights further away than those of another seed.
TEST_F(OtherRun, IsReproducedByAnAdversaryWithOtherWeights) {
  const std::vector<std::string> model{
      "data.reviews={train: 3000, dev: 100, test: 6}", "model.embedding={dim: 16, dropout: 0}",
      "model.features={kind: recurrent, dim: 32}", "model.attention=additive + softmax", "train.batch_tokens=400"};
  const auto trained = [&](const std::string& name, const std::vector<std::string>& more) {
    const std::string run = folder_->path(name);
    const auto recipe = with(
        model, {"train.max_steps=600", "train.validate_every=200", "train.checkpoint_every=1000", "train.ema_decay=0"});
    train_labels(run, with(recipe, more));
    return run;
  };
  const std::string base = trained("whole_base", {});
  const Distances seed = between(model, base, trained("seed_2", {"train.seed=2"})),
                  adversary = between(
                      model, base,
                      trained("adversary", {"train.seed=2", "train.adversary={run: " + base + ", lambda: 0.002}"}));
  EXPECT_LT(adversary.tvd, 0.15);
  EXPECT_GT(adversary.jsd, seed.jsd + 0.1) << seed.jsd << ' ' << adversary.jsd;
}

TEST_F(OtherRun, IsComparedInEveryValidation) {
  const std::string run = folder_->path("validated");
  const auto result = train_labels(
      run, with(kReviewsRun, {"train.adversary={run: " + base_ + "}", "train.max_steps=8", "train.validate_every=4"}));
  bool any = false;
  for (const auto& line : metrics_without_times(run)) {
    if (!line.contains("dev_adversary_loss")) continue;
    any = true;
    EXPECT_GT(line["dev_tvd"].get<double>(), 0);
    EXPECT_GE(line["dev_jsd"].get<double>(), 0);
    EXPECT_TRUE(line.contains("dev_accuracy"));
  }
  EXPECT_TRUE(any);
}

TEST_F(OtherRun, GuidesAModelThatKeepsItsWeights) {
  const std::string run = folder_->path("guided");
  const auto recipe = with(kReviewsRun, {"model.features={kind: tokenwise, dim: 16}", "train.guide.run=" + base_});
  const auto result = train_labels(run, recipe);
  EXPECT_GT(result.results["dev"]["accuracy"].get<double>(), 0.7);
  Classifier guided = Classifier::load(run, at::kCPU), base = Classifier::load(base_, at::kCPU);
  ASSERT_TRUE(guided.model().has_guide());
  const TextBatch batch = collate(guided.reader().read_all({{"the food was good"}, {"a bad place"}}), {0, 1});
  const at::NoGradGuard no_grad;
  const auto weights = [&](Classifier& classifier) {
    return TokenAttention(classifier.model(), "train.guide")
        .weights(classifier.model().pool(batch, {}, TokenAttention::outputs()), batch);
  };
  EXPECT_TRUE(at::allclose(weights(guided), weights(base)));
  expect_parts(refused({"train.guide.run=" + run}), {"which has a guide itself"});
}

TEST_F(OtherRun, GoesOnWithTheSameBits) {
  for (const std::string key : {"guide", "adversary"}) {
    const auto recipe =
        with(kReviewsRun, {"train." + key + ".run=" + base_, "train.max_steps=20", "train.validate_every=10"});
    train_labels(folder_->path(key + "_whole"), recipe);
    train_labels(folder_->path(key + "_halves"), with(recipe, {"train.max_steps=10"}));
    train_labels(folder_->path(key + "_halves"), recipe, {.resume = true});
    EXPECT_TRUE(same_tensors(tensors_of(folder_->path(key + "_whole")), tensors_of(folder_->path(key + "_halves"))));
    expect_parts(refusal([&] {
                   train_labels(folder_->path(key + "_halves"), with(recipe, {"train." + key + ".run=null"}),
                                {.resume = true});
                 }),
                 {"train." + key + ".run"});
  }
}

TEST_F(OtherRun, ThatDoesNotFitIsRefusedWithTheCure) {
  for (const std::string key : {"guide", "adversary"}) {
    const std::string run = "train." + key + ".run=";
    expect_parts(refused({run + "nowhere"}), {"train." + key + ".run is 'nowhere'", "heed train"});
    expect_parts(refused({run + base_, "data.tokenizer=characters"}),
                 {"whose tokenizer is another one", "train that run again"});
    expect_parts(refused({run + base_, "data.max_length=7"}), {"which reads texts as", "\"max_length\":7"});
    expect_parts(refused({run + base_, "model.attention=mean"}), {"model.attention is mean"});
  }
  expect_parts(refused({"train.adversary.run=" + base_, "train.guide.run=" + base_}), {"together with train.guide"});
  expect_parts(refused({"eval.monitor=adversary_loss"}), {"eval.monitor is 'adversary_loss'"});
  expect_parts(refused({"train.adversary={run: " + base_ + ", lambda: -1}"}), {"train.adversary.lambda"});
}

}  // namespace
}  // namespace heed::testing
