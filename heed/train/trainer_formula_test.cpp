// The training loop against formulas, written here once more in plain numbers: what a step does to the weights, what is
// averaged, saved and reported, when a run validates and stops.

#include <cmath>
#include <fstream>
#include <numbers>

#include <gtest/gtest.h>

#include "heed/data/recipe.h"
#include "heed/data/safetensors.h"
#include "heed/train/run/testing_folder.h"
#include "heed/train/testing_formula_task.h"
#include "heed/train/trainer.h"

namespace heed::testing {
namespace {

std::shared_ptr<Task> make_formula_task(const Options&, const Settings&, const TaskPlace&) {
  return std::make_shared<FormulaTask>();
}
const Task::Parts::Entry formula_task_entry{
    "formula", make_formula_task, {.formula = "|w - c|^2 / 2", .paper = "-", .choose = "tests"}};

constexpr double kRounding = 1e-13;

/// A run of the formula task, and what it left behind.
class TrainerFormula : public ::testing::Test {
 protected:
  void SetUp() override { script_ = {}; }
  void TearDown() override { script_ = {}; }

  void train_with(const std::vector<std::string>& settings, const TrainCall& call = {.quiet = true}) {
    std::vector<std::string> all{"run.dir=" + run_, "train.optimiser=sgd", "train.lr=0.25",  "train.clip=0",
                                 "train.log=1",     "train.validate=1000", "train.epochs=0", "train.device=cpu"};
    all.insert(all.end(), settings.begin(), settings.end());
    result_ = train(parse_recipe("task: formula\n", "formula", all), call);
    checkpoint_ = load_safetensors(run_ + "/checkpoint.safetensors");
    std::ifstream file(run_ + "/metrics.jsonl");
    for (std::string line; std::getline(file, line);) {
      const auto parsed = nlohmann::json::parse(line);
      (parsed.contains("dev_figure") ? validations_ : steps_).push_back(parsed);
    }
  }

  Numbers saved(const std::string& name) const { return numbers(checkpoint_.tensors.at(name)); }
  Numbers model() const { return numbers(load_safetensors(run_ + "/model.safetensors").tensors.at("w")); }
  Numbers logged(const char* key) const {
    Numbers all;
    for (const auto& line : steps_) all.push_back(line.at(key));
    return all;
  }
  Numbers validation_steps() const {
    Numbers all;
    for (const auto& line : validations_) all.push_back(line.at("step"));
    return all;
  }
  static Numbers numbers(const at::Tensor& tensor) {
    return {tensor.data_ptr<double>(), tensor.data_ptr<double>() + tensor.numel()};
  }

  const Folder folder_;
  std::string run_ = folder_.path("run");
  FormulaScript& script_ = FormulaTask::script;
  TrainResult result_;
  Safetensors checkpoint_;
  std::vector<nlohmann::json> steps_, validations_;
};

void expect_near(const Numbers& got, const Numbers& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], kRounding * (1 + std::fabs(expected[i]))) << "number " << i;
}

/// Mean over the tokens of some batches: sum n (w - c) / sum n, and sum n |w - c|^2 / 2 / sum n.
struct Mean {
  Numbers gradient;
  double loss = 0, tokens = 0, norm = 0;

  Mean(const Numbers& w, int64_t epoch, const std::vector<int64_t>& batches) : gradient(w.size(), 0.0) {
    for (const int64_t index : batches) {
      const auto& batch = FormulaTask::batch_of(epoch, index);
      const auto n = static_cast<double>(batch.tokens);
      tokens += n;
      for (size_t i = 0; i < w.size(); ++i) {
        gradient[i] += n * (w[i] - batch.center[i]);
        loss += n * (w[i] - batch.center[i]) * (w[i] - batch.center[i]) / 2;
      }
    }
    for (double& g : gradient) g /= tokens;
    loss /= tokens;
    for (const double g : gradient) norm += g * g;
    norm = std::sqrt(norm);
  }
};

Numbers moved(Numbers w, const Numbers& gradient, double rate) {
  for (size_t i = 0; i < w.size(); ++i) w[i] -= rate * gradient[i];
  return w;
}

TEST_F(TrainerFormula, TakesOneStepAgainstTheMeanGradientOfAllTokens) {
  train_with({"train.steps=1", "train.accumulate=2"});
  const Mean mean(script_.start, 0, {0, 1});  // 3 tokens and 1
  expect_near(saved("values"), moved(script_.start, mean.gradient, 0.25));
  ASSERT_EQ(steps_.size(), 1U);
  EXPECT_NEAR(steps_[0].at("loss"), mean.loss, kRounding);
  EXPECT_NEAR(steps_[0].at("norm"), mean.norm, kRounding);
  EXPECT_EQ(steps_[0].at("tokens"), 4);
  EXPECT_EQ(steps_[0].at("lr"), 0.25);
  EXPECT_EQ(result_.step, 1);
}

TEST_F(TrainerFormula, ClipsTheMeanGradientToItsNorm) {
  train_with({"train.steps=1", "train.clip=0.5"});
  const Mean mean(script_.start, 0, {0});
  ASSERT_GT(mean.norm, 0.5);
  expect_near(saved("values"), moved(script_.start, mean.gradient, 0.25 * 0.5 / mean.norm));
  EXPECT_NEAR(steps_[0].at("norm"), mean.norm, kRounding);  // as it was before
}

TEST_F(TrainerFormula, LeavesAGradientBelowTheNormAlone) {
  train_with({"train.steps=1", "train.clip=50"});
  const Mean mean(script_.start, 0, {0});
  ASSERT_LT(mean.norm, 50);
  expect_near(saved("values"), moved(script_.start, mean.gradient, 0.25));
}

TEST_F(TrainerFormula, StepsWithTheLearningRateOfTheSchedule) {
  train_with({"train.steps=5", "train.schedule=inverse_sqrt(warmup=2)"});
  const Numbers rates{0.25 / 2, 0.25, 0.25 * std::sqrt(2.0 / 3), 0.25 * std::sqrt(2.0 / 4), 0.25 * std::sqrt(2.0 / 5)};
  Numbers w = script_.start;
  for (int64_t step = 0; step < 5; ++step) w = moved(w, Mean(w, 0, {step}).gradient, rates[static_cast<size_t>(step)]);
  expect_near(logged("lr"), rates);
  expect_near(saved("values"), w);
}

TEST_F(TrainerFormula, TellsTheScheduleHowManyStepsTheEpochsHave) {
  train_with({"train.epochs=2", "train.accumulate=2", "train.schedule=cosine"});
  Numbers rates;  // 3 steps an epoch
  for (int step = 1; step <= 6; ++step) rates.push_back(0.25 * (1 + std::cos(std::numbers::pi * step / 6)) / 2);
  expect_near(logged("lr"), rates);
}

TEST_F(TrainerFormula, TakesTheSmallerOfEpochsAndSteps) {
  train_with({"train.epochs=2", "train.steps=4", "train.schedule=linear"});
  expect_near(logged("lr"), {0.25 * 3 / 4, 0.25 * 2 / 4, 0.25 / 4, 0});
  EXPECT_EQ(result_.step, 4);
  EXPECT_EQ(result_.epoch, 0);
}

TEST_F(TrainerFormula, StepsWithAdam) {
  train_with({"train.steps=7", "train.optimiser=adam(b1=0.8, b2=0.9, epsilon=0.001)", "train.lr=0.1"});
  Numbers w = script_.start, m(3, 0.0), v(3, 0.0);
  for (int64_t step = 1; step <= 7; ++step) {
    const Mean mean(w, (step - 1) / 5, {(step - 1) % 5});
    const auto t = static_cast<double>(step);
    for (size_t i = 0; i < 3; ++i) {
      m[i] = 0.8 * m[i] + 0.2 * mean.gradient[i];
      v[i] = 0.9 * v[i] + 0.1 * mean.gradient[i] * mean.gradient[i];
      w[i] -= 0.1 * (m[i] / (1 - std::pow(0.8, t))) / (std::sqrt(v[i] / (1 - std::pow(0.9, t))) + 0.001);
    }
  }
  expect_near(saved("values"), w);
}

/// a <- a + (1 - d) (w - a) with d = min(decay, (1 + t) / (10 + t)), t steps done.
struct Averaged {
  Numbers w, average;
  explicit Averaged(const Numbers& start) : w(start), average(start) {}
  void step(int64_t t, double decay) {
    w = moved(w, Mean(w, (t - 1) / 5, {(t - 1) % 5}).gradient, 0.25);
    const double kept = std::min(decay, (1.0 + static_cast<double>(t)) / (10.0 + static_cast<double>(t)));
    for (size_t i = 0; i < w.size(); ++i) average[i] = kept * average[i] + (1 - kept) * w[i];
  }
};

TEST_F(TrainerFormula, AveragesTheWeightsWithAWarmUp) {
  train_with({"train.steps=9", "train.average=0.4"});  // (1 + t) / (10 + t) passes 0.4 at t = 5
  Averaged expected(script_.start);
  for (int64_t t = 1; t <= 9; ++t) expected.step(t, 0.4);
  expect_near(saved("average"), expected.average);
  expect_near(saved("values"), expected.w);
}

TEST_F(TrainerFormula, ValidatesSavesAndJudgesTheAverageAndTrainsTheWeights) {
  script_.worth = {1, 2, 1};  // the second is the best
  train_with({"train.steps=6", "train.average=0.9", "train.validate=2"});
  Averaged expected(script_.start);
  std::vector<Numbers> averages;
  for (int64_t t = 1; t <= 6; ++t) {
    expected.step(t, 0.9);
    if (t % 2 == 0) averages.push_back(expected.average);
  }
  ASSERT_EQ(script_.validated_at.size(), 3U);
  for (size_t i = 0; i < 3; ++i) expect_near(script_.validated_at[i], averages[i]);
  expect_near(model(), averages[1]);
  expect_near(script_.judged_at, averages[1]);
  expect_near(saved("values"), expected.w);
  EXPECT_EQ(result_.results.at("best_step"), 4);
}

TEST_F(TrainerFormula, UsesTheLastPartialAccumulationOfAnEpoch) {
  train_with({"train.epochs=2", "train.accumulate=2"});  // 5 batches: 2 + 2 + 1
  Numbers w = script_.start;
  for (int64_t epoch = 0; epoch < 2; ++epoch)
    for (const auto& batches : {std::vector<int64_t>{0, 1}, {2, 3}, {4}})
      w = moved(w, Mean(w, epoch, batches).gradient, 0.25);
  EXPECT_EQ(result_.step, 6);
  EXPECT_EQ(result_.epoch, 2);
  expect_near(saved("values"), w);
  expect_near(logged("tokens"), {4, 6, 5, 5, 7, 3});  // the second epoch begins with the second batch
}

TEST_F(TrainerFormula, ReportsTheMeanLossOfTheTokensSinceTheLastLine) {
  train_with({"train.steps=4", "train.log=2"});
  Numbers w = script_.start, losses;
  double sum = 0, tokens = 0;
  for (int64_t step = 1; step <= 4; ++step) {
    const Mean mean(w, 0, {step - 1});
    sum += mean.loss * mean.tokens;
    tokens += mean.tokens;
    w = moved(w, mean.gradient, 0.25);
    if (step % 2 != 0) continue;
    losses.push_back(sum / tokens);
    sum = tokens = 0;
  }
  expect_near(logged("loss"), losses);
  expect_near(logged("step"), {2, 4});
}

TEST_F(TrainerFormula, ReportsTheLossThatATaskShowsAndDescendsTheOneItReturns) {
  script_.shows_twice_the_loss = true;
  train_with({"train.steps=1"});
  const Mean mean(script_.start, 0, {0});
  EXPECT_NEAR(steps_[0].at("loss"), 2 * mean.loss, kRounding);
  expect_near(saved("values"), moved(script_.start, mean.gradient, 0.25));
}

TEST_F(TrainerFormula, ValidatesAtTheEndOfEachEpochAndOfTheRun) {
  train_with({"train.steps=12", "train.validate=0"});
  expect_near(validation_steps(), {5, 10, 12});
}

TEST_F(TrainerFormula, ValidatesEverySoManyStepsAndAtTheEnd) {
  train_with({"train.steps=8", "train.validate=3"});
  expect_near(validation_steps(), {3, 6, 8});
}

TEST_F(TrainerFormula, StopsWhenItsPatienceIsExhaustedAndKeepsTheBest) {
  script_.worth = {1, 3, 2, 3, 9};  // equal is not better, so the fourth is the second one without a new best
  train_with({"train.steps=100", "train.validate=1", "train.patience=2"});
  EXPECT_EQ(result_.step, 4);
  EXPECT_EQ(result_.results.at("best_step"), 2);
  Numbers w = script_.start;
  for (int64_t step = 0; step < 2; ++step) w = moved(w, Mean(w, 0, {step}).gradient, 0.25);
  expect_near(model(), w);
  expect_near(script_.judged_at, w);
}

TEST_F(TrainerFormula, GoesOnWhileValidationsImprove) {
  script_.worth = {1, 0, 2, 1, 3, 2, 2, 9};
  train_with({"train.steps=100", "train.validate=1", "train.patience=2"});
  EXPECT_EQ(result_.step, 7);
}

TEST_F(TrainerFormula, BeginsAResumedRunWithTheValidationThatDidNotEnd) {
  const std::vector<std::string> settings{"train.steps=6", "train.validate=2", "train.checkpoint=1000",
                                          "train.average=0.9", "train.schedule=plateau(0.5, patience=1)"};
  script_.worth = {2, 1, 3};
  int validations = 0;
  script_.validating = [&] { check(++validations != 2, "the validation was killed"); };
  EXPECT_EQ(refusal([&] { train_with(settings); }), "the validation was killed");
  train_with(settings, {.resume = true, .quiet = true});
  expect_near(validation_steps(), {2, 4, 6});
  expect_near(logged("lr"), {0.25, 0.25, 0.25, 0.25, 0.125, 0.125});  // plateau heard of the validation at step 4
  const auto resumed = saved("values"), resumed_average = saved("average"), resumed_model = model();
  EXPECT_EQ(validations, 4);

  script_ = {};
  script_.worth = {2, 1, 3};
  run_ = folder_.path("whole");
  steps_.clear();
  train_with(settings);
  EXPECT_EQ(saved("values"), resumed);
  EXPECT_EQ(saved("average"), resumed_average);
  EXPECT_EQ(model(), resumed_model);
}

TEST_F(TrainerFormula, LowersTheLearningRateOnAPlateau) {
  script_.worth = {1, 1, 1, 2, 2, 2};  // waits once at 2, lowered at 3; best at 4; lowered at 6
  train_with({"train.steps=8", "train.validate=1", "train.schedule=plateau(0.5, patience=2)"});
  expect_near(logged("lr"), {0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.0625, 0.0625});
}

}  // namespace
}  // namespace heed::testing
