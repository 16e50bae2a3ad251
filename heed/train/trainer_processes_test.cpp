// A run of several processes: long validations, and failures of one process.

#include <cstdlib>
#include <unistd.h>

#include <gtest/gtest.h>

#include "heed/data/recipe.h"
#include "heed/torch_support/safetensors.h"
#include "heed/train/processes.h"
#include "heed/train/processes_group.h"
#include "heed/train/run/testing_folder.h"
#include "heed/train/testing_formula_task.h"
#include "heed/train/testing_processes.h"
#include "heed/train/trainer.h"

namespace heed::testing {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Six steps with a validation every two.
TrainResult train_in(const std::string& run, const TrainCall& call = {.quiet = true}) {
  return train(
      parse_recipe("task: formula\n", "formula",
                   {"run.dir=" + run, "train.optimizer=sgd", "train.lr=0.25", "train.clip_norm=0", "train.max_steps=6",
                    "train.max_epochs=0", "train.validate_every=2", "train.log_every=1", "train.device=cpu"}),
      call);
}

/// Each test starts itself again as several processes and checks their exit codes.
class TrainerProcesses : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!no_group(at::kCPU).empty()) GTEST_SKIP() << no_group(at::kCPU);
    FormulaTask::script = {};
    run_ = variable("HEED_TEST_RUN");
    started_ = !run_.empty();
    if (!started_) run_ = folder_.path("run");
    rank_ = started_ ? std::atoi(variable("RANK").c_str()) : 0;
  }

  /// Synchronizes the processes before a run with a short timeout, so that their start times do not matter.
  static void begin_together(const char* timeout) {
    Processes::join(rank_from_environment())->barrier();
    ::setenv("MASTER_PORT", variable("HEED_TEST_PORT").c_str(), 1);
    ::setenv("HEED_TIMEOUT", timeout, 1);
  }

  std::vector<int> codes(int world) const {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    return exit_codes("TrainerProcesses." + name, world, {"HEED_TIMEOUT=60", "HEED_TEST_RUN=" + run_});
  }
  static Numbers values_in(const std::string& run) {
    const auto values = load_safetensors(run + "/checkpoint.safetensors").tensors.at("values");
    return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
  }

  const Folder folder_;
  std::string run_;
  bool started_ = false;  // this is one of the processes
  int rank_ = 0;
};

TEST_F(TrainerProcesses, ValidateForThreeTimesTheTimeoutAndLearnWhatOneLearns) {
  if (started_) {
    begin_together("4");
    int validations = 0;
    FormulaTask::script.validating = [&] {
      if (++validations == 1) ::usleep(12500000);
    };
    const TrainResult result = train_in(run_);
    EXPECT_EQ(result.step, 6);
    EXPECT_EQ(validations, rank_ == 0 ? 3 : 0);
    EXPECT_EQ(result.results.is_null(), rank_ != 0);
    return;
  }
  EXPECT_EQ(codes(2), (std::vector<int>{0, 0}));
  const std::string alone = folder_.path("alone");
  train_in(alone);
  const Numbers two = values_in(run_), one = values_in(alone);
  ASSERT_EQ(two.size(), one.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(two[i], one[i], 1e-12);
}

TEST_F(TrainerProcesses, EndWhenAValidationFails) {
  if (!started_) {
    EXPECT_EQ(codes(3), (std::vector<int>{0, 0, 0}));
    return;
  }
  FormulaTask::script.validating = [] { fail("out of memory"); };
  const std::string said = refusal([&] { train_in(run_); });
  EXPECT_NE(said.find("out of memory"), std::string::npos) << said;
  EXPECT_EQ(said.find("rank 0 could not validate") != std::string::npos, rank_ != 0) << said;
}

TEST_F(TrainerProcesses, EndWhenTheFirstDiesInAValidation) {
  if (!started_) {
    EXPECT_EQ(codes(3), (std::vector<int>{7, 0, 0}));
    return;
  }
  FormulaTask::script.validating = [] { std::_Exit(7); };
  const std::string said = refusal([&] { train_in(run_); });
  EXPECT_NE(said.find("rank 0 is gone"), std::string::npos) << said;
}

TEST_F(TrainerProcesses, EndWhenAnotherDiesInAStep) {
  if (!started_) {
    EXPECT_EQ(codes(2), (std::vector<int>{0, 7}));
    return;
  }
  FormulaTask::script.training = [&](const Share& share) {
    if (rank_ == 1 && share.batch == 2) std::_Exit(7);
  };
  const std::string said = refusal([&] { train_in(run_); });
  EXPECT_NE(said.find("no word from rank 1"), std::string::npos) << said;
}

TEST_F(TrainerProcesses, EndWhenTheFirstCannotWriteTheCheckpoint) {
  if (!started_) {
    EXPECT_EQ(codes(2), (std::vector<int>{0, 0}));
    return;
  }
  FormulaTask::script.training = [&](const Share& share) {
    if (rank_ == 0 && share.batch == 1) FormulaTask::script.state = [] { fail("no space left"); };
  };
  const std::string said = refusal([&] { train_in(run_); });
  EXPECT_NE(said.find("no space left"), std::string::npos) << said;
}

}  // namespace
}  // namespace heed::testing
