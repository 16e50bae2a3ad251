// The training loop against formulas computed here in plain numbers: the weights after a step, what is averaged, saved
// and reported, and when a run validates and stops. Each test runs with steps that the host waits for, and with steps
// that are only enqueued, as on a GPU.

#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <numbers>
#include <thread>

#include <gtest/gtest.h>

#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/torch_support/safetensors.h"
#include "heed/train/device_step.h"
#include "heed/train/run/testing_folder.h"
#include "heed/train/testing_formula_task.h"
#include "heed/train/trainer.h"
#include "heed/version.h"

namespace heed::testing {
namespace {

std::shared_ptr<Task> make_formula_task(const Options&, const Settings&, const TaskEnvironment&) {
  return std::make_shared<FormulaTask>();
}
const Task::Parts::Entry formula_task_entry{
    "formula", make_formula_task, {.formula = "|w - c|^2 / 2", .paper = "-", .choose = "tests"}};

constexpr double kRounding = 1e-13;

/// A run of the formula task and its files. The parameter: whether steps are enqueued.
class TrainerFormula : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    script_ = {};
    DeviceStep::on_cpu_too = GetParam();
  }
  void TearDown() override {
    script_ = {};
    DeviceStep::on_cpu_too = false;
  }

  void train_with(const std::vector<std::string>& settings, const TrainCall& call = {.quiet = true}) {
    std::vector<std::string> all{"run.dir=" + run_,    "train.optimizer=sgd", "train.lr=0.25",
                                 "train.clip_norm=0",  "train.log_every=1",   "train.validate_every=1000",
                                 "train.max_epochs=0", "train.device=cpu"};
    all.insert(all.end(), settings.begin(), settings.end());
    result_ = train(parse_recipe("task: formula\n", "formula", all), call);
    checkpoint_ = load_safetensors(run_ + "/checkpoint.safetensors");
    steps_.clear();
    validations_.clear();
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

TEST_P(TrainerFormula, TakesOneStepAgainstTheMeanGradientOfAllTokens) {
  train_with({"train.max_steps=1", "train.accumulate=2"});
  const Mean mean(script_.start, 0, {0, 1});  // 3 tokens and 1
  expect_near(saved("values"), moved(script_.start, mean.gradient, 0.25));
  ASSERT_EQ(steps_.size(), 1U);
  EXPECT_NEAR(steps_[0].at("loss"), mean.loss, kRounding);
  EXPECT_NEAR(steps_[0].at("norm"), mean.norm, kRounding);
  EXPECT_EQ(steps_[0].at("tokens"), 4);
  EXPECT_EQ(steps_[0].at("lr"), 0.25);
  EXPECT_EQ(result_.step, 1);
}

TEST_P(TrainerFormula, ClipsTheMeanGradientToItsNorm) {
  train_with({"train.max_steps=1", "train.clip_norm=0.5"});
  const Mean mean(script_.start, 0, {0});
  ASSERT_GT(mean.norm, 0.5);
  expect_near(saved("values"), moved(script_.start, mean.gradient, 0.25 * 0.5 / mean.norm));
  EXPECT_NEAR(steps_[0].at("norm"), mean.norm, kRounding);  // before clipping
}

TEST_P(TrainerFormula, LeavesAGradientBelowTheNormAlone) {
  train_with({"train.max_steps=1", "train.clip_norm=50"});
  const Mean mean(script_.start, 0, {0});
  ASSERT_LT(mean.norm, 50);
  expect_near(saved("values"), moved(script_.start, mean.gradient, 0.25));
}

TEST_P(TrainerFormula, StepsWithTheLearningRateOfTheSchedule) {
  train_with({"train.max_steps=5", "train.schedule=inverse_sqrt(warmup_steps=2)"});
  const Numbers rates{0.25 / 2, 0.25, 0.25 * std::sqrt(2.0 / 3), 0.25 * std::sqrt(2.0 / 4), 0.25 * std::sqrt(2.0 / 5)};
  Numbers w = script_.start;
  for (int64_t step = 0; step < 5; ++step) w = moved(w, Mean(w, 0, {step}).gradient, rates[static_cast<size_t>(step)]);
  expect_near(logged("lr"), rates);
  expect_near(saved("values"), w);
}

TEST_P(TrainerFormula, TellsTheScheduleHowManyStepsTheEpochsHave) {
  train_with({"train.max_epochs=2", "train.accumulate=2", "train.schedule=cosine"});
  Numbers rates;  // 3 steps an epoch
  for (int step = 1; step <= 6; ++step) rates.push_back(0.25 * (1 + std::cos(std::numbers::pi * step / 6)) / 2);
  expect_near(logged("lr"), rates);
}

TEST_P(TrainerFormula, TakesTheSmallerOfEpochsAndSteps) {
  train_with({"train.max_epochs=2", "train.max_steps=4", "train.schedule=linear"});
  expect_near(logged("lr"), {0.25 * 3 / 4, 0.25 * 2 / 4, 0.25 / 4, 0});
  EXPECT_EQ(result_.step, 4);
  EXPECT_EQ(result_.epoch, 0);
}

TEST_P(TrainerFormula, StepsWithAdam) {
  train_with({"train.max_steps=7", "train.optimizer=adam(beta1=0.8, beta2=0.9, epsilon=0.001)", "train.lr=0.1"});
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

TEST_P(TrainerFormula, AveragesTheWeightsWithAWarmUp) {
  train_with({"train.max_steps=9", "train.ema_decay=0.4"});  // (1 + t) / (10 + t) passes 0.4 at t = 5
  Averaged expected(script_.start);
  for (int64_t t = 1; t <= 9; ++t) expected.step(t, 0.4);
  expect_near(saved("average"), expected.average);
  expect_near(saved("values"), expected.w);
}

TEST_P(TrainerFormula, ValidatesSavesAndEvaluatesTheAverageAndTrainsTheWeights) {
  script_.score = {1, 2, 1};  // the second is the best
  train_with({"train.max_steps=6", "train.ema_decay=0.9", "train.validate_every=2"});
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

TEST_P(TrainerFormula, UsesTheLastPartialAccumulationOfAnEpoch) {
  train_with({"train.max_epochs=2", "train.accumulate=2"});  // 5 batches: 2 + 2 + 1
  Numbers w = script_.start;
  for (int64_t epoch = 0; epoch < 2; ++epoch)
    for (const auto& batches : {std::vector<int64_t>{0, 1}, {2, 3}, {4}})
      w = moved(w, Mean(w, epoch, batches).gradient, 0.25);
  EXPECT_EQ(result_.step, 6);
  EXPECT_EQ(result_.epoch, 2);
  expect_near(saved("values"), w);
  expect_near(logged("tokens"), {4, 6, 5, 5, 7, 3});  // the second epoch begins with the second batch
}

TEST_P(TrainerFormula, ReportsTheMeanLossOfTheTokensSinceTheLastLine) {
  train_with({"train.max_steps=4", "train.log_every=2"});
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

TEST_P(TrainerFormula, ReportsTheLossThatATaskShowsAndDescendsTheOneItReturns) {
  script_.shows_twice_the_loss = true;
  train_with({"train.max_steps=1"});
  const Mean mean(script_.start, 0, {0});
  EXPECT_NEAR(steps_[0].at("loss"), 2 * mean.loss, kRounding);
  expect_near(saved("values"), moved(script_.start, mean.gradient, 0.25));
}

TEST_P(TrainerFormula, ValidatesAtTheEndOfEachEpochAndOfTheRun) {
  train_with({"train.max_steps=12", "train.validate_every=0"});
  expect_near(validation_steps(), {5, 10, 12});
}

TEST_P(TrainerFormula, ValidatesEverySoManyStepsAndAtTheEnd) {
  train_with({"train.max_steps=8", "train.validate_every=3"});
  expect_near(validation_steps(), {3, 6, 8});
}

TEST_P(TrainerFormula, StopsWhenItsPatienceIsExhaustedAndKeepsTheBest) {
  script_.score = {1, 3, 2, 3, 9};  // equal is not better, so the fourth is the second one without a new best
  train_with({"train.max_steps=100", "train.validate_every=1", "train.patience=2"});
  EXPECT_EQ(result_.step, 4);
  EXPECT_EQ(result_.results.at("best_step"), 2);
  Numbers w = script_.start;
  for (int64_t step = 0; step < 2; ++step) w = moved(w, Mean(w, 0, {step}).gradient, 0.25);
  expect_near(model(), w);
  expect_near(script_.judged_at, w);
}

TEST_P(TrainerFormula, TakesNoFurtherStepWhenItIsResumedAfterItsPatienceWasExhausted) {
  script_.score = {3, 2, 1, 9};  // the third is the second one without a new best; a fourth would be a new best
  int batches = 0;
  script_.training = [&](const Share&) { ++batches; };
  const std::vector<std::string> settings{"train.max_steps=100", "train.validate_every=1", "train.patience=2"};
  train_with(settings);
  ASSERT_EQ(result_.step, 3);
  const Numbers values = saved("values"), best = model();
  train_with(settings, {.resume = true, .quiet = true});
  EXPECT_EQ(result_.step, 3);
  EXPECT_EQ(batches, 3);
  expect_near(validation_steps(), {1, 2, 3});
  EXPECT_EQ(result_.results.at("best_step"), 1);
  EXPECT_EQ(saved("values"), values);
  EXPECT_EQ(model(), best);
}

TEST_P(TrainerFormula, GoesOnWhileValidationsImprove) {
  script_.score = {1, 0, 2, 1, 3, 2, 2, 9};
  train_with({"train.max_steps=100", "train.validate_every=1", "train.patience=2"});
  EXPECT_EQ(result_.step, 7);
}

TEST_P(TrainerFormula, BeginsAResumedRunWithTheValidationThatDidNotEnd) {
  const std::vector<std::string> settings{"train.max_steps=6", "train.validate_every=2", "train.checkpoint_every=1000",
                                          "train.ema_decay=0.9", "train.schedule=plateau(0.5, patience=1)"};
  script_.score = {2, 1, 3};
  int validations = 0, batches = 0;
  script_.training = [&](const Share&) { ++batches; };
  script_.validating = [&] { check(++validations != 2, "the validation was killed"); };
  EXPECT_EQ(refusal([&] { train_with(settings); }), "the validation was killed");
  train_with(settings, {.resume = true, .quiet = true});
  expect_near(validation_steps(), {2, 4, 6});
  expect_near(logged("lr"), {0.25, 0.25, 0.25, 0.25, 0.125, 0.125});  // plateau heard of the validation at step 4
  const auto resumed = saved("values"), resumed_average = saved("average"), resumed_model = model();
  EXPECT_EQ(validations, 4);
  EXPECT_EQ(batches, 6);  // no step was lost

  script_ = {};
  script_.score = {2, 1, 3};
  run_ = folder_.path("whole");
  train_with(settings);
  EXPECT_EQ(saved("values"), resumed);
  EXPECT_EQ(saved("average"), resumed_average);
  EXPECT_EQ(model(), resumed_model);
}

TEST_P(TrainerFormula, WritesACheckpointEverySoManyStepsAndAroundEachValidation) {
  int64_t steps = 0;
  std::vector<int64_t> checkpoints;
  script_.training = [&](const Share&) { ++steps; };
  script_.state = [&] { checkpoints.push_back(steps); };
  train_with({"train.max_steps=10", "train.checkpoint_every=3", "train.validate_every=7"});
  EXPECT_EQ(checkpoints, (std::vector<int64_t>{0, 3, 6, 7, 7, 9, 10, 10}));
}

TEST_P(TrainerFormula, EvaluatesOutsideOfTraining) {
  train_with({"train.max_steps=2", "train.validate_every=1"});
  EXPECT_EQ(script_.in_training, (std::vector<bool>{true, false, true, false, false}));
}

TEST_P(TrainerFormula, ReportsWhatItDid) {
  train_with({"train.max_steps=7", "train.seed=9"});
  expect_near(logged("epoch"), {0, 0, 0, 0, 1, 1, 1});  // that of the next step
  const auto& results = result_.results;
  EXPECT_EQ(results.at("run"), run_);
  EXPECT_EQ(results.at("step"), 7);
  EXPECT_EQ(results.at("best_step"), 7);
  EXPECT_EQ(results.at("epochs"), 1);
  EXPECT_EQ(results.at("parameters"), 3);
  EXPECT_EQ(results.at("device"), "cpu");
  EXPECT_EQ(results.at("seed"), 9);
  EXPECT_EQ(results.at("precision"), "float");
  EXPECT_EQ(results.at("processes"), 1);
  EXPECT_EQ(results.at("judged"), true);
  EXPECT_GE(results.at("train_seconds"), 0);
  EXPECT_EQ(results.at("train_tokens"), 15 + 1 + 4);  // an epoch and the first two batches of the next
  EXPECT_GT(results.at("tokens_per_second"), 0);
  EXPECT_GT(results.at("peak_memory"), 1 << 20);
  EXPECT_EQ(results.at("commit"), std::string(commit()));
  EXPECT_TRUE(results.at("data").is_object());
  EXPECT_EQ(results.at("mechanism"), "");
  EXPECT_EQ(results, nlohmann::ordered_json::parse(read_file(run_ + "/results.json")));
  const std::string log = read_file(run_ + "/log.txt");
  EXPECT_NE(log.find("training " + run_ + ": 3 parameters, cpu"), std::string::npos) << log;
  EXPECT_NE(log.find("step 7, epoch 1, dev figure 0.00 (best)"), std::string::npos) << log;
}

TEST_P(TrainerFormula, CountsTheTokensOfAllItsStarts) {
  train_with({"train.max_steps=3"});
  EXPECT_EQ(result_.results.at("train_tokens"), 3 + 1 + 4);
  train_with({"train.max_steps=7"}, {.resume = true, .quiet = true});
  EXPECT_EQ(result_.results.at("train_tokens"), 20);
}

// Validations take time, but no training time: a run that validates often is not slower at training.
TEST_P(TrainerFormula, MeasuresItsSpeedWithoutValidations) {
  script_.validating = [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };
  train_with({"train.max_steps=2", "train.validate_every=1"});
  const double seconds =
      result_.results.at("train_tokens").get<double>() / result_.results.at("tokens_per_second").get<double>();
  EXPECT_GT(result_.results.at("train_seconds"), 0.4);
  EXPECT_LT(seconds, result_.results.at("train_seconds").get<double>() - 0.4);
}

TEST_P(TrainerFormula, DrawsOtherNumbersInEachStepAndWithEachSeed) {
  Numbers drawn;
  script_.training = [&](const Share&) { drawn.push_back(at::rand({1}).item<double>()); };
  train_with({"train.max_steps=4", "train.seed=1"});
  run_ = folder_.path("other");
  train_with({"train.max_steps=4", "train.seed=2"});
  ASSERT_EQ(drawn.size(), 8U);
  for (size_t i = 0; i < 8; ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_NE(drawn[i], drawn[j]) << i << " and " << j;
}

TEST_P(TrainerFormula, StopsAtASignalAndGoesOnToTheSameWeights) {
  Numbers drawn;
  int64_t batches = 0;
  script_.training = [&](const Share&) {
    drawn.push_back(at::rand({1}).item<double>());
    if (++batches == 3) ::raise(SIGTERM);
  };
  train_with({"train.max_steps=6"});
  EXPECT_TRUE(result_.interrupted);
  EXPECT_EQ(result_.signal, SIGTERM);
  EXPECT_EQ(result_.step, 3);
  EXPECT_TRUE(result_.results.is_null());
  EXPECT_NE(read_file(run_ + "/log.txt").find("stopped at step 3"), std::string::npos);
  train_with({"train.max_steps=6"}, {.resume = true, .quiet = true});
  EXPECT_FALSE(result_.interrupted);
  EXPECT_NE(read_file(run_ + "/log.txt").find("from step 3"), std::string::npos);
  const Numbers resumed = saved("values"), first(drawn);
  run_ = folder_.path("whole");
  drawn.clear();
  train_with({"train.max_steps=6"});
  EXPECT_EQ(saved("values"), resumed);
  EXPECT_EQ(drawn, first);
}

TEST_P(TrainerFormula, RemembersTheBestAndItsPatienceWhenItIsResumed) {
  script_.score = {5, 1, 2, 3, 4};  // the first is the best, and the fourth the third one without a new best
  const std::vector<std::string> settings{"train.validate_every=1", "train.patience=3"};
  train_with({"train.max_steps=2", settings[0], settings[1]});
  const Numbers best = model();
  train_with({"train.max_steps=100", settings[0], settings[1]}, {.resume = true, .quiet = true});
  EXPECT_EQ(result_.step, 4);
  EXPECT_EQ(result_.results.at("best_step"), 1);
  EXPECT_EQ(model(), best);
  EXPECT_EQ(script_.judged_at, best);
}

TEST_P(TrainerFormula, RefusesToResumeAsAnotherRunAndSaysWhatElseHasChanged) {
  train_with({"train.max_steps=2"});
  const TrainCall resume{.resume = true, .quiet = true};
  for (const std::string other : {"train.seed=5", "train.accumulate=2", "train.optimizer=adam"}) {
    const std::string said = refusal([&] { train_with({"train.max_steps=3", other}, resume); });
    EXPECT_NE(said.find(other.substr(0, other.find('='))), std::string::npos) << other << ": " << said;
    EXPECT_NE(said.find("--force"), std::string::npos) << other << ": " << said;
  }
  train_with({"train.max_steps=3", "train.lr=0.5"}, resume);
  EXPECT_EQ(result_.step, 3);
  EXPECT_NE(read_file(run_ + "/log.txt").find("changed: train.lr 0.25 -> 0.5"), std::string::npos);
  Numbers w = script_.start;
  for (int64_t step = 0; step < 3; ++step) w = moved(w, Mean(w, 0, {step}).gradient, step < 2 ? 0.25 : 0.5);
  expect_near(saved("values"), w);
}

TEST_P(TrainerFormula, SaysWhereTheLossIsNoLongerFinite) {
  script_.batches[1].center[2] = 1e200;
  const std::string said = refusal([&] { train_with({"train.max_steps=5", "train.clip_norm=3"}); });
  for (const char* part : {"at step 2", "batch 1", "inf", "train.lr (now 0.25)", "train.clip_norm (now 3)"})
    EXPECT_NE(said.find(part), std::string::npos) << part << " is missing in: " << said;
}

TEST_P(TrainerFormula, LowersTheLearningRateOnAPlateau) {
  script_.score = {1, 1, 1, 2, 2, 2};  // waits once at 2, lowered at 3; best at 4; lowered at 6
  train_with({"train.max_steps=8", "train.validate_every=1", "train.schedule=plateau(0.5, patience=2)"});
  expect_near(logged("lr"), {0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.0625, 0.0625});
}

/// The weights after each step of an epoch, by the formula.
std::vector<Numbers> weights_after(const Numbers& start, int64_t steps) {
  std::vector<Numbers> all{start};
  for (int64_t i = 0; i < steps; ++i) all.push_back(moved(all.back(), Mean(all.back(), 0, {i}).gradient, 0.25));
  return all;
}

Numbers mean_of(const Numbers& a, const Numbers& b) {
  Numbers mean;
  for (size_t i = 0; i < a.size(); ++i) mean.push_back((a[i] + b[i]) / 2);
  return mean;
}

// The average is of the weights themselves, also where their moving average is validated.
TEST_P(TrainerFormula, KeepsTheAverageOfTheLastValidationsWhereItIsBetter) {
  for (const char* ema : {"train.ema_decay=0", "train.ema_decay=0.5"}) {
    SCOPED_TRACE(ema);
    script_ = {};
    script_.score = {1, 2, 4, 3, 5};  // the fifth is that of the average
    train_with({"train.max_steps=4", "train.validate_every=1", "train.average_last=2", ema},
               {.force = true, .quiet = true});
    const auto after = weights_after(script_.start, 4);
    expect_near(model(), mean_of(after[3], after[4]));
    const auto& average = result_.results.at("average_last");
    EXPECT_EQ(average.at("validations"), 2);
    EXPECT_EQ(average.at("score"), 5);
    EXPECT_EQ(average.at("kept"), true);
    expect_near(saved("values"), after[4]);  // a run that goes on does so from its own weights
  }
}

TEST_P(TrainerFormula, KeepsTheBestWhereTheAverageIsNotBetter) {
  script_.score = {1, 6, 4, 3, 6};
  train_with({"train.max_steps=4", "train.validate_every=1", "train.average_last=3"});
  expect_near(model(), weights_after(script_.start, 4)[2]);
  EXPECT_EQ(result_.results.at("average_last").at("kept"), false);
  EXPECT_EQ(result_.results.at("best_step"), 2);
}

TEST_P(TrainerFormula, AveragesNothingUnlessAsked) {
  train_with({"train.max_steps=2", "train.validate_every=1"});
  EXPECT_FALSE(result_.results.contains("average_last"));
  EXPECT_EQ(script_.validated_at.size(), 2U);
}

TEST_P(TrainerFormula, AveragesTheSameAfterAResumption) {
  script_.score = {1, 2, 9, 3, 4, 9.5};  // the third is the average of the first start
  train_with({"train.max_steps=2", "train.validate_every=1", "train.average_last=2"});
  write_atomically(run_ + "/last.999.safetensors", "of a start that was killed after its last checkpoint");
  train_with({"train.max_steps=4", "train.validate_every=1", "train.average_last=2"}, {.resume = true, .quiet = true});
  const auto after = weights_after(script_.start, 4);
  expect_near(model(), mean_of(after[3], after[4]));
}

TEST_P(TrainerFormula, KeepsTheWeightsBeforeAStepThatIsNotFinite) {
  script_.batches[2].center[1] = NAN;
  EXPECT_THROW(train_with({"train.max_steps=20", "train.checkpoint_every=2"}), Error);  // at step 3
  EXPECT_NO_THROW(load_safetensors(run_ + "/checkpoint.safetensors"));
  Numbers w = script_.start;
  for (int64_t step = 0; step < 2; ++step) w = moved(w, Mean(w, 0, {step}).gradient, 0.25);
  expect_near(numbers(load_safetensors(run_ + "/checkpoint.safetensors").tensors.at("values")), w);
}

INSTANTIATE_TEST_SUITE_P(Steps, TrainerFormula, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Enqueued" : "WaitedFor"; });

}  // namespace
}  // namespace heed::testing
