// The translation task alone: its score, and its loss against the formula.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "heed/data/recipe.h"
#include "heed/train/run/testing_folder.h"
#include "heed/train/task.h"
#include "heed/train/trainer.h"

namespace heed::testing {
namespace {

Settings translate_recipe(const std::string& first_lines, const std::vector<std::string>& settings) {
  std::vector<std::string> all{"data={train: grammar, grammar: {train: 60, dev: 5, test: 5}, tokenizer: words}",
                               "model={embedding: {dim: 8}, features: {kind: recurrent, dim: 8}, "
                               "query: {kind: bahdanau, state_dim: 8, out_dim: 8}, attention: additive + softmax}"};
  all.insert(all.end(), settings.begin(), settings.end());
  return parse_recipe(first_lines + "train: {batch_tokens: 100}\n", "small", all);
}

std::shared_ptr<Task> translate_task(const std::vector<std::string>& settings) {
  return Task::Parts::make("translate", translate_recipe("", settings), TaskEnvironment{});
}

double score(const std::string& watch, double loss, double bleu) {
  return translate_task({"eval.monitor=" + watch})->score({{"loss", loss}, {"perplexity", 7}, {"bleu", bleu}});
}

TEST(TranslateTask, IsScoredByBleuFromOneOn) {
  EXPECT_EQ(score("bleu", 2, 1), 1);
  EXPECT_EQ(score("bleu", 2, 35.5), 35.5);
}

TEST(TranslateTask, IsScoredByLossWhileBleuIsNoise) {
  EXPECT_EQ(score("bleu", 2, 0.999), -2);
  EXPECT_EQ(score("bleu", 3, 0.5), -3);
  EXPECT_EQ(score("bleu", 3, 0), -3);
}

// The description of a batch in messages about a non-finite loss: numbers from 1, and at most eight pairs.
TEST(TranslateTask, DescribesABatchByItsPairs) {
  const auto task = translate_task({});
  Share share;
  share.epoch = 2;
  share.batch = 1;
  const std::string text = task->describe(share);
  EXPECT_EQ(text.rfind("epoch 3, batch 2, pairs ", 0), 0U) << text;
  EXPECT_LE(std::count(text.begin(), text.end(), ' '), 5 + 8 + 1) << text;
}

TEST(TranslateTask, IsScoredByLossIfThatIsMonitored) {
  EXPECT_EQ(score("loss", 2, 50), -2);
}

/// Loss and tokens of the first batch, with all parameters 0 except the output bias: token i then has the score i / 8
/// at every position.
struct KnownLoss {
  double sum = 0, tokens = 0, classes = 0, log_sum = 0, mean_score = 0;

  explicit KnownLoss(double smoothing) {
    const auto task = translate_task({"train.label_smoothing=" + std::to_string(smoothing)});
    const at::NoGradGuard no_grad;
    at::Tensor scores;
    for (const auto& item : task->model().named_parameters()) {
      item.value().zero_();
      if (item.key().find("output") != std::string::npos && item.key().find("bias") != std::string::npos)
        scores = item.value();
    }
    scores.copy_(at::arange(scores.numel()) / 8.0);
    const Loss loss = task->loss(Share{});
    sum = loss.sum.item<double>();
    tokens = static_cast<double>(loss.count);
    classes = static_cast<double>(scores.numel());
    double exponentials = 0;
    for (int64_t i = 0; i < scores.numel(); ++i) {
      exponentials += std::exp(static_cast<double>(i) / 8);
      mean_score += static_cast<double>(i) / 8 / classes;
    }
    log_sum = std::log(exponentials);
  }
};

TEST(TranslateTask, SumsTheCrossEntropyOfItsTokens) {
  const KnownLoss known(0);
  ASSERT_GT(known.tokens, 10);
  // sum (log_sum - score of the token): scores are eighths of whole numbers
  const double eighths = 8 * (known.tokens * known.log_sum - known.sum);
  EXPECT_NEAR(eighths, std::round(eighths), 1e-2);
  EXPECT_GT(eighths, 0);
  EXPECT_LT(eighths, known.tokens * known.classes);
}

TEST(TranslateTask, SmoothsItsLabels) {
  const KnownLoss plain(0), smooth(0.25);
  ASSERT_EQ(smooth.tokens, plain.tokens);
  // A share of 1/4 of each label goes to all classes alike.
  const double uniform = plain.tokens * (plain.log_sum - plain.mean_score);
  EXPECT_NEAR(smooth.sum, 0.75 * plain.sum + 0.25 * uniform, 1e-4 * plain.sum);
  EXPECT_GT(std::fabs(smooth.sum - plain.sum), 1e-2 * plain.sum);
}

TEST(TranslateTask, RefusesToResumeWithOtherData) {
  const Folder folder;
  const std::string run = "run.dir=" + folder.path("run");
  const std::string head = "task: translate\neval: {tokenize: none, beam: 1}\n";
  train(translate_recipe(head, {run, "train.max_steps=1"}), {.quiet = true});
  for (const std::string other : {"data.grammar.train=61", "data.grammar.dev=6"}) {
    const std::string said = refusal([&] {
      train(translate_recipe(head, {run, "train.max_steps=2", other}), {.resume = true, .quiet = true});
    });
    const std::string key = other.substr(0, other.find('='));
    EXPECT_NE(said.find("recipe: " + key + " is " + other.substr(key.size() + 1) + ", but the run began with"),
              std::string::npos)
        << other << ": " << said;
  }
}

}  // namespace
}  // namespace heed::testing
