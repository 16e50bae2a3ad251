// Supervised attention in training: it makes attention follow gold in a few steps, is kept when a run goes on, and is
// refused where there is nothing to supervise.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "heed/train/testing_labels.h"
#include "heed/train/testing_run.h"

namespace heed::testing {
namespace {

class SupervisedTraining : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.path(name), std::ios::binary) << content;
  }
  std::shared_ptr<Task> pairs(const std::string& data, const std::string& supervision = "") const {
    return Task::Parts::make(
        "translate",
        parse_recipe("train: {batch_tokens: 100" + supervision + "}\n", "small",
                     {"data={root: " + folder_.path() + ", train: [a.en, a.de], dev: [a.en, a.de], tokenizer: words" +
                          data + "}",
                      "model={embedding: {dim: 8}, features: {kind: recurrent, dim: 8}, "
                      "query: {kind: bahdanau, state_dim: 8, out_dim: 8}, attention: additive + softmax}"}),
        TaskEnvironment{});
  }
  std::string refused(const std::string& data, const std::string& supervision = "") const {
    return refusal([&] { pairs(data, supervision); });
  }
  void SetUp() override {
    write("a.en", "one two three\nfour\n");
    write("a.de", "eins zwei\nvier\n");
    write("gold", "0-0 2-1\n0-0\n");
  }
  const Folder folder_;
};

double test_aer(const TrainResult& result) {
  return result.results["test"]["aer"];
}

// The same 150 steps on the built-in sentences, with and without their gold links: less than half of the errors.
TEST_F(SupervisedTraining, LowersTheAlignmentErrorInFewSteps) {
  const std::vector<std::string> recipe{
      "data.grammar={train: 2000, dev: 10, test: 60}",
      "model={embedding: {dim: 48, dropout: 0}, features: {kind: recurrent, dim: 48}, "
      "query: {kind: luong, state_dim: 48, out_dim: 48}, attention: general + softmax}",
      "train.max_steps=150",
      "train.batch_tokens=400",
      "train.validate_every=1000",
      "train.checkpoint_every=1000"};
  const double plain = test_aer(train_tiny(folder_.path("plain"), recipe));
  for (const char* const loss : {"cross_entropy", "squared_error"}) {
    auto with_gold = recipe;
    with_gold.push_back(std::string("train.supervision={weight: 1, loss: ") + loss + "}");
    const double supervised = test_aer(train_tiny(folder_.path(loss), with_gold));
    EXPECT_LT(supervised, plain / 2) << loss;
  }
}

TEST_F(SupervisedTraining, GoesOnWithTheSameBits) {
  const std::vector<std::string> recipe{"train.supervision={weight: 0.5}", "eval.monitor=aer"};
  train_tiny(folder_.path("whole"), recipe);
  auto half = recipe;
  half.push_back("train.max_steps=12");
  train_tiny(folder_.path("halves"), half);
  resume_tiny(folder_.path("halves"), recipe);
  EXPECT_TRUE(same_tensors(tensors_of(folder_.path("whole")), tensors_of(folder_.path("halves"))));
  train_tiny(folder_.path("plain"), {"eval.monitor=aer"});
  EXPECT_FALSE(same_tensors(tensors_of(folder_.path("whole")), tensors_of(folder_.path("plain"))));
}

TEST_F(SupervisedTraining, ShowsTheAlignmentErrorOfTheDevelopmentSet) {
  const auto task = pairs(", train_links: gold, dev_links: gold");
  task->model().eval();
  const Figures figures = task->validate();
  ASSERT_EQ(figures[2].first, "aer");
  EXPECT_GE(figures[2].second, 0);
  EXPECT_EQ(task->remarks(), "supervise the attention of 3 of 3 target tokens; the words of the others have no link");
  EXPECT_EQ(pairs(", train_links: gold", ", supervision: {weight: 0}")->remarks(), "");
}

TEST_F(SupervisedTraining, OfTranslatorsRefusesWhatDoesNotFit) {
  write("gold", "0-0 2-2\n0-0\n");
  EXPECT_EQ(refused(", train_links: gold"),
            "data/pair_links: " + folder_.path("gold") +
                ":1: got the link 2-2, expected source words 0 to 2 and target words 0 to 1; correct the link");
  write("gold", "0-0 2-1\n");
  EXPECT_NE(refused(", train_links: gold").find("1 lines"), std::string::npos);
  EXPECT_EQ(
      refused("", ", supervision: {weight: 1}").rfind("recipe: train.supervision is given, but data.train_links ", 0),
      0U);
  EXPECT_NE(refused("", "}\neval: {monitor: aer").find("data.dev_links is missing"), std::string::npos);
}

TEST_F(SupervisedTraining, RefusesToChooseByAFigureThatNothingMeasures) {
  write("none", "\n\n");
  EXPECT_NE(
      refused(", dev_links: none", "}\neval: {monitor: aer").find("no pair of the development set has a gold link"),
      std::string::npos);
  const auto fixed = refusal([&] {
    Task::Parts::make("translate",
                      parse_recipe("train: {batch_tokens: 100}\neval: {monitor: aer}\n", "small",
                                   {"data={train: grammar, grammar: {train: 20, dev: 4, test: 4}, tokenizer: words}",
                                    "model={embedding: {dim: 8}, features: {kind: recurrent, dim: 8}, "
                                    "query: {kind: bahdanau, state_dim: 8, out_dim: 8}, attention: fixed}"}),
                      TaskEnvironment{});
  });
  EXPECT_NE(fixed.find("eval.monitor is aer, but the model has no attention that makes links"), std::string::npos)
      << fixed;
  write("train.tsv", "a\tone two\t0 1\nb\ttwo\t1\n");
  write("dev.tsv", "a\tone two\t0 0\nb\ttwo\t0\n");
  const auto empty = refusal([&] {
    labels_task({"data={root: " + folder_.path() +
                     ", train: train.tsv, dev: dev.tsv, label: 1, text: 2, train_rationales: 3, dev_rationales: 3}",
                 "eval.monitor=attention_loss"});
  });
  EXPECT_NE(empty.find("no text of the development set has a rationale"), std::string::npos) << empty;
}

TEST_F(SupervisedTraining, GoesOnWithTheSameRationalesAlone) {
  write("train.tsv", "a\tone two\t0 1\nb\ttwo\t1\n");
  write("dev.tsv", "a\tone two\t0 1\nb\ttwo\t1\n");
  const auto hash = [&] {
    return labels_task({"data={root: " + folder_.path() +
                        ", train: train.tsv, dev: dev.tsv, label: 1, text: 2, train_rationales: 3, dev_rationales: 3}"})
        ->data_hashes()["data.dev_rationales (3)"]
        .get<std::string>();
  };
  const std::string before = hash();
  write("dev.tsv", "a\tone two\t1 0\nb\ttwo\t1\n");
  EXPECT_NE(hash(), before);
}

// A convolution of many sentences, which torch computes with memory of its own, and in bfloat16.
TEST_F(SupervisedTraining, OfDocumentsTakesEveryFeatureModelAndPrecision) {
  for (const char* const kind : {"embedding", "convolution", "recurrent", "transformer"})
    for (const char* const precision : {"float", "bfloat16"}) {
      const auto result =
          train_labels(folder_.path(std::string(kind) + precision),
                       {std::string("model.features={kind: ") + kind + "}", "model.attention={preset: yang_2016}",
                        "data.sentences=rule", "train.supervision={weight: 0.1}", "train.max_steps=3",
                        std::string("train.precision=") + precision});
      EXPECT_TRUE(std::isfinite(result.results["dev"]["loss"].get<double>())) << kind << ' ' << precision;
    }
}

/// The smallest mean distance of the attention from the words that decide, on the development set.
double attention_loss(const std::string& run) {
  double smallest = HUGE_VAL;
  for (const auto& line : metrics_without_times(run))
    smallest = std::min(smallest, line.value("dev_attention_loss", HUGE_VAL));
  return smallest;
}

TEST_F(SupervisedTraining, OfAClassifierFollowsTheWordsThatDecide) {
  const std::vector<std::string> recipe{"data.reviews={train: 600, dev: 40, test: 20}", "train.max_steps=60",
                                        "train.batch_tokens=400", "eval.monitor=attention_loss"};
  const auto loss_at = [&](const std::string& weight) {
    auto all = recipe;
    all.push_back("train.supervision={weight: " + weight + "}");
    const std::string run = folder_.path("weight" + weight);
    train_labels(run, all);
    return attention_loss(run);
  };
  const double supervised = loss_at("5"), hardly = loss_at("0.000001");
  EXPECT_GT(supervised, 0);
  EXPECT_LT(supervised, 0.8 * hardly);
}

TEST_F(SupervisedTraining, OfAClassifierRefusesWhatDoesNotFit) {
  write("a.tsv", "x\tgood one\t0 1\ny\tbad\t\ny\tvery bad\t0 1 0\n");
  const std::string data = "data={root: " + folder_.path() + ", train: a.tsv, dev: a.tsv, label: 1, text: 2";
  const auto said = [&](const std::string& more, const std::vector<std::string>& others = {}) {
    std::vector<std::string> all{data + more + "}"};
    all.insert(all.end(), others.begin(), others.end());
    return refusal([&] { labels_task(all); });
  };
  EXPECT_EQ(said(", train_rationales: 3"), "data/rationales: " + folder_.path("a.tsv") +
                                               ":3: got 3 weights for a text of 2 words, expected one for each");
  EXPECT_NE(said("", {"train.supervision.weight=1"}).find("data.train_rationales is missing"), std::string::npos);
  EXPECT_NE(said("", {"eval.monitor=attention_loss"}).find("data.dev_rationales"), std::string::npos);
  write("a.tsv", "x\tgood one\t0 1\ny\tbad\t\ny\tvery bad\t0 0\n");
  const auto task = labels_task({data + ", train_rationales: 3}"});
  EXPECT_EQ(task->remarks(), "supervise the attention of 1 of 3 training texts; the others have no rationale");
}

}  // namespace
}  // namespace heed::testing
