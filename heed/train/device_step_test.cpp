// Steps that are only enqueued: they never wait for a GPU, repeat their bits, and give the same bits when they are
// replayed. The loop around them is in trainer_formula_test.cpp.

#include "heed/train/device_step.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "heed/data/recipe.h"
#include "heed/torch_support/no_waiting.h"
#include "heed/train/run/testing_folder.h"

namespace heed::testing {
namespace {

struct ModelCase {
  const char* name;
  std::vector<std::string> settings;
};

const std::vector<ModelCase> kModels{
    {"transformer",
     {"model.features={kind: transformer, num_layers: 2, num_heads: 4, feed_forward_dim: 32, dropout: 0.3}",
      "model.query={kind: transformer, num_layers: 2, num_heads: 4, feed_forward_dim: 32, dropout: 0.3}",
      "model.attention=scaled_dot + softmax"}},
    {"recurrent",
     {"model.features={kind: recurrent, dim: 32}", "model.query={kind: bahdanau, state_dim: 32, out_dim: 32}",
      "model.attention=additive + softmax"}},
    {"recurrent lstm of two layers",
     {"model.features={kind: recurrent, dim: 32, num_layers: 2, dropout: 0.2, cell: lstm}",
      "model.query={kind: luong, state_dim: 32, out_dim: 32, cell: lstm}", "model.attention=dot + softmax"}}};

constexpr const char* kStepRecipe = R"(task: translate
data: {train: grammar, grammar: {train: 400, dev: 4, test: 4}, tokenizer: words}
model: {embedding: {dim: 32, dropout: 0.1}}
train: {max_steps: 100, max_epochs: 0, batch_tokens: 400, lr: 0.01, ema_decay: 0.9, label_smoothing: 0.1}
)";

/// A run without files, step by step.
class StepRun {
 public:
  StepRun(const ModelCase& model, at::Device device, const std::string& capture, std::vector<std::string> more = {})
      : training_(made(model, device, capture, std::move(more))) {
    Training& t = training_;
    t.processes = Processes::join(t.rank, t.device);
    torch::manual_seed(1);
    t.task =
        Task::Parts::make(read_task_name(t.recipe), t.recipe, TaskEnvironment{folder_.path("run"), device, false, 1});
    t.task->model().train();
    t.flat = std::make_unique<FlatParameters>(t.task->model());
    t.average = t.flat->values().clone();
    t.schedule = Schedule::make("constant", {.steps = 100});
    step_ = std::make_unique<DeviceStep>(t);
  }

  void steps(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      TrainState& state = training_.state;
      const Share first{state.epoch, state.position * training_.options.accumulate, 0, 1};
      StepResult result = step_->enqueue();
      result.step = ++state.step;
      if (++state.position == training_.steps_of_epoch(state.epoch)) {
        ++state.epoch;
        state.position = 0;
      }
      step_->expect(result, first);
      note(step_->arrived(DeviceStep::kMaxMissing));
    }
  }

  at::Tensor weights() {
    note(step_->arrived(0));
    return at::stack({training_.flat->values(), training_.average}).cpu();
  }
  const std::vector<double>& numbers() const { return numbers_; }  // loss and norm of each step
  const DeviceStep& step() const { return *step_; }

 private:
  static Training made(const ModelCase& model, at::Device device, const std::string& capture,
                       std::vector<std::string> settings) {
    settings.insert(settings.end(), model.settings.begin(), model.settings.end());
    settings.push_back("train.capture=" + capture);
    const Settings recipe = parse_recipe(kStepRecipe, "step", settings);
    read_task_name(recipe);
    return {.recipe = recipe, .options = read_train_options(recipe), .rank = {}, .device = device};
  }
  void note(const std::vector<std::pair<StepResult, Share>>& all) {
    for (const auto& [result, first] : all) {
      numbers_.push_back(result.loss);
      numbers_.push_back(result.norm);
    }
  }

  const Folder folder_;
  Training training_;
  std::unique_ptr<DeviceStep> step_;
  std::vector<double> numbers_;
};

/// Steps on the CPU are enqueued during its lifetime.
struct OnCpuToo {
  OnCpuToo() { DeviceStep::on_cpu_too = true; }
  ~OnCpuToo() { DeviceStep::on_cpu_too = false; }
};

/// Loss and norm come at most kMaxMissing steps later, all of them and in their order.
TEST(DeviceStep, HandsInEveryResultOnceAndInOrder) {
  const OnCpuToo enqueued;
  for (const char* accumulate : {"1", "2"}) {
    StepRun run(kModels[1], at::kCPU, "auto", {std::string("train.accumulate=") + accumulate});
    run.steps(DeviceStep::kMaxMissing);
    EXPECT_TRUE(run.numbers().empty());
    run.steps(2);
    EXPECT_EQ(run.numbers().size(), 2 * 2U);
    run.weights();
    ASSERT_EQ(run.numbers().size(), 2 * (DeviceStep::kMaxMissing + 2));
    EXPECT_LT(run.numbers()[18], run.numbers()[0]);  // it learns
    EXPECT_EQ(run.step().replayed(), 0);             // nothing is recorded on the CPU
  }
}

TEST(DeviceStep, RepeatsItsBits) {
  const OnCpuToo enqueued;
  for (const auto& model : kModels) {
    SCOPED_TRACE(model.name);
    StepRun a(model, at::kCPU, "auto"), b(model, at::kCPU, "false");
    a.steps(10);
    b.steps(10);
    EXPECT_TRUE(at::equal(a.weights(), b.weights()));
    EXPECT_EQ(a.numbers(), b.numbers());
  }
}

TEST(DeviceStepOnCuda, NeverWaitsForTheGpu) {
  if (!at::hasCUDA() || !NoWaiting::available()) GTEST_SKIP() << "no GPU, or a build without HEED_CUDA";
  for (const auto& model : kModels)
    for (const char* capture : {"false", "auto"}) {
      SCOPED_TRACE(std::string(model.name) + ", capture " + capture);
      StepRun run(model, at::Device(at::kCUDA, 0), capture);
      run.steps(2);  // libraries prepare themselves
      {
        const NoWaiting no_waiting;
        EXPECT_NO_THROW(run.steps(20));
        EXPECT_ANY_THROW(at::ones({1}, at::kCUDA).item<float>());  // what waits is found
      }
      EXPECT_EQ(run.weights().isfinite().all().item<bool>(), true);
    }
}

TEST(DeviceStepOnCuda, RepeatsItsBits) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  for (const auto& model : kModels) {
    SCOPED_TRACE(model.name);
    StepRun a(model, at::Device(at::kCUDA, 0), "false"), b(model, at::Device(at::kCUDA, 0), "false");
    a.steps(30);
    b.steps(30);
    EXPECT_TRUE(at::equal(a.weights(), b.weights()));
    EXPECT_EQ(a.numbers(), b.numbers());
  }
}

TEST(DeviceStepOnCuda, ReplaysWithTheSameBits) {
  if (!at::hasCUDA() || !Captured::available(at::Device(at::kCUDA, 0)))
    GTEST_SKIP() << "no GPU, or a build without HEED_CUDA";
  for (const auto& model : kModels) {
    SCOPED_TRACE(model.name);
    StepRun live(model, at::Device(at::kCUDA, 0), "false"), replayed(model, at::Device(at::kCUDA, 0), "auto");
    live.steps(60);
    replayed.steps(60);
    EXPECT_EQ(replayed.step().remark(), "");
    EXPECT_GT(replayed.step().replayed(), 0);
    EXPECT_EQ(live.step().replayed(), 0);
    EXPECT_TRUE(at::equal(live.weights(), replayed.weights()));
    EXPECT_EQ(live.numbers(), replayed.numbers());
  }
}

}  // namespace
}  // namespace heed::testing
