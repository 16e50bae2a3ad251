#include "apps/cli/ablate/run_state.h"

#include <csignal>
#include <fstream>
#include <unistd.h>

#include "apps/cli/ablate/capacity.h"
#include "apps/cli/ablate/grid_progress.h"
#include "apps/cli/ablate/run_time.h"
#include <gtest/gtest.h>

#include "heed/data/file.h"
#include "heed/data/folder_lock.h"
#include "heed/data/testing.h"

namespace heed::cli {
namespace {

class AblationRun : public testing::FolderTest {
 protected:
  void write(const std::string& name, const std::string& text) {
    make_folders(run_.folder);
    std::ofstream(folder_ + name) << text;
  }
  const GridRun run_{0, 1, folder_ + "/cell/seed-1", "cell, seed 1"};
};

TEST_F(AblationRun, ItsFilesSayHowFarItIs) {
  EXPECT_EQ(state_of(run_), RunState::untouched);
  write("/cell/seed-1/metrics.jsonl", "{}");
  EXPECT_EQ(state_of(run_), RunState::untouched);
  write("/cell/seed-1/checkpoint.safetensors", "");
  EXPECT_EQ(state_of(run_), RunState::started);
  write_failure(run_, {1, "the loss is NaN"});
  EXPECT_EQ(state_of(run_), RunState::failed);
  EXPECT_EQ(failure_of(run_)->reason, "the loss is NaN");
  write("/cell/seed-1/results.json", "{\"seed\"");
  EXPECT_EQ(state_of(run_), RunState::failed);
  write("/cell/seed-1/results.json", "{}");
  EXPECT_EQ(state_of(run_), RunState::finished);
}

TEST_F(AblationRun, IsTriedAgainAfterASignalAlone) {
  make_folders(run_.folder);
  write_failure(run_, {1, "refused"});
  forget_failure(run_, false);
  EXPECT_EQ(state_of(run_), RunState::failed);
  forget_failure(run_, true);
  EXPECT_EQ(state_of(run_), RunState::untouched);
  write_failure(run_, {128 + SIGKILL, "killed"});
  forget_failure(run_, false);
  EXPECT_EQ(state_of(run_), RunState::untouched);
}

TEST_F(AblationRun, IsSkippedAwaitedStartedOrResumed) {
  for (const bool held : {false, true}) {
    EXPECT_EQ(action_for(RunState::finished, held), RunAction::none);
    EXPECT_EQ(action_for(RunState::failed, held), RunAction::none);
  }
  EXPECT_EQ(action_for(RunState::untouched, false), RunAction::start);
  EXPECT_EQ(action_for(RunState::started, false), RunAction::resume);
  EXPECT_EQ(action_for(RunState::untouched, true), RunAction::wait);
  EXPECT_EQ(action_for(RunState::started, true), RunAction::wait);
}

TEST_F(AblationRun, KnowsWhoWritesToItAndWhereItIsPrepared) {
  for (const std::string& folder : {folder_ + "/cell/seed-1", folder_ + "/cell/.seed-1.new"}) {
    make_folders(folder);
    EXPECT_EQ(holder_of(run_), "");
    const FolderLock lock(folder, {.command = "train", .folder = folder, .option = "run.dir"});
    EXPECT_NE(holder_of(run_).find("process "), std::string::npos);
  }
}

TEST(AblationFailure, IsTheLastErrorOfTheLog) {
  EXPECT_EQ(reason_in("training x\nheed: recipe: no\nheed: recipe: model.x is 3, expected 4\nat once\n", 1),
            "recipe: model.x is 3, expected 4");
  EXPECT_EQ(reason_in("something\n\n", 3), "ended with status 3: something");
  EXPECT_EQ(reason_in("", 2), "ended with status 2");
  EXPECT_EQ(reason_in("", 128 + SIGKILL), "ended by signal 9, as the system does when memory runs out");
}

TEST_F(AblationRun, TakesAsLongAsItsStepsSay) {
  EXPECT_FALSE(time_of(run_).total);
  write("/cell/seed-1/metrics.jsonl",
        "{\"step\": 1, \"seconds\": 1}\n{\"step\": 10, \"seconds\": 12.5}\n{\"step\": 11,");
  EXPECT_EQ(time_of(run_).done, 12.5);
  EXPECT_FALSE(time_of(run_).total);  // no checkpoint says how many steps there are
  write("/cell/seed-1/results.json", R"({"train_seconds": 20})");
  EXPECT_EQ(time_of(run_).total, 20);
  EXPECT_TRUE(time_of(run_).finished);
}

TEST(AblationTime, IsThatOfTheCellOrOfAllCells) {
  const RunTime known{0, 100, 100, true}, half{0, 50, 100}, sibling{0}, other{1};
  EXPECT_FALSE(seconds_left({sibling}, 0, 1));
  EXPECT_EQ(seconds_left({known, half}, 0, 1), 50);
  EXPECT_EQ(seconds_left({known, half, sibling, other}, 0, 1), 250);
  EXPECT_EQ(seconds_left({known, half, sibling, other}, 10, 2), 140);
  EXPECT_EQ(seconds_left({known, sibling}, 0, 8), 100);  // one run is not trained by several processes
}

TEST(AblationCapacity, OneRunAlwaysFitsAndOthersNeedMemory) {
  EXPECT_EQ(jobs_for(8, 3), 2);
  EXPECT_EQ(jobs_for(1, 4), 1);
  EXPECT_TRUE(fits_another({.available = 1, .finished_peak = 1e9}));
  const ProcessMemory half{.now = 0.5e9, .peak = 0.5e9};
  EXPECT_TRUE(fits_another({.available = 2e9, .finished_peak = 1e9, .running = {half}}));
  EXPECT_FALSE(fits_another({.available = 1.5e9, .finished_peak = 1e9, .running = {half}}));
  EXPECT_GT(memory_of(::getpid()).peak, 1e6);
}

TEST(AblationProgress, IsABarOnATerminalAndALineAMinuteElsewhere) {
  const GridStatus status{.finished = 12, .failed = 1, .at_work = 2, .all = 36, .seconds_left = 2460};
  EXPECT_EQ(status_text(status), "12/36 runs, 2 at work, 1 failed, 41.0 min left");
  EXPECT_EQ(bar_text(status, 65), "[#####-----------] 12/36 runs, 2 at work, 1 failed, 41.0 min left");
  EXPECT_EQ(bar_text(status, 9), "12/36 run");
  std::string screen;
  double now = 0;
  GridProgress progress({[&](const std::string& text) { screen += text; }, [] { return 0; }, [&] { return now; }});
  progress.update(status);
  EXPECT_EQ(screen, "");
  now = 61;
  progress.update(status);
  progress.update(status);
  progress.line("13/36  a");
  EXPECT_EQ(screen, status_text(status) + "\n13/36  a\n");
}

}  // namespace
}  // namespace heed::cli
