#include "apps/cli/ablate/trial.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "apps/cli/ablate/capacity.h"
#include "apps/cli/ablate/run_state.h"
#include "apps/cli/ablate/run_time.h"
#include "apps/cli/amount_text.h"
#include "apps/cli/child_program.h"
#include "apps/cli/compare.h"

#include "heed/base/check.h"
#include "heed/base/interrupt.h"
#include "heed/base/thread_count.h"
#include "heed/data/file.h"

namespace heed::cli {
namespace {

constexpr double kMeasured = 10, kAtMost = 90;  // seconds of training that are measured, and of the whole attempt

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* parent = std::getenv("TMPDIR");
    path_ = std::string(parent != nullptr && *parent != '\0' ? parent : "/tmp") + "/heed_ablate_XXXXXX";
    check(::mkdtemp(path_.data()) != nullptr, "ablate: no temporary folder ", path_,
          " can be made; set TMPDIR to a folder that can be written");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The model of a run that has not validated yet is missing: as large as the weights in float.
double disk_with_model(const std::string& folder) {
  const double parameters = read_run_summary(folder).parameters.value_or(0);
  return disk_of(folder) + (exists(folder + "/model.safetensors") ? 0 : 4 * parameters);
}

/// A run that is trained elsewhere. It ends with this object.
class Trial {
 public:
  Trial(const Plan& plan, const GridRun& of, const std::string& program, const std::string& folder)
      : run{of.cell, of.seed, folder + "/" + plan.cells[of.cell].name, of.title} {
    write_atomically(recipe_path(folder), plan.base);
    std::vector<std::string> arguments{"--threads", std::to_string(plan.threads), "train", "--quiet",
                                       recipe_path(folder)};
    for (const auto& setting : overrides_of(plan, of)) arguments.push_back(setting);
    arguments.insert(arguments.end(), {"train.log_every=1", "run.dir=" + run.folder});
    process = std::make_unique<ChildProgram>(program, arguments, log_of(run));
  }
  /// Why it ended, if it was refused.
  std::string refusal(int status) const { return status == 0 ? "" : reason_in(read_file(log_of(run)), status); }

  GridRun run;
  std::unique_ptr<ChildProgram> process;
};

void check_not_stopped(const InterruptScope& interrupt) {
  check(!interrupt.asked(), "ablate: stopped while the first steps of runs were tried");
}

}  // namespace

std::map<size_t, std::string> refused_cells(const Plan& plan, const std::vector<GridRun>& runs,
                                            const std::string& program) {
  const InterruptScope interrupt;
  const TemporaryFolder temporary;
  std::map<size_t, std::string> refused;
  std::vector<std::unique_ptr<Trial>> trials;
  const auto at_once = static_cast<size_t>(jobs_for(threads_from_affinity(), plan.threads));
  for (size_t next = 0; next < runs.size() || !trials.empty();) {
    check_not_stopped(interrupt);
    while (next < runs.size() && trials.size() < at_once)
      trials.push_back(std::make_unique<Trial>(plan, runs[next++], program, temporary.path()));
    std::erase_if(trials, [&](const auto& trial) {
      const auto status = trial->process->poll();
      if (status && *status != 0) refused[trial->run.cell] = trial->refusal(*status);
      return status || state_of(trial->run) != RunState::untouched;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return refused;
}

Estimate measured(const Plan& plan, const GridRun& run, const std::string& program) {
  using Clock = std::chrono::steady_clock;
  const InterruptScope interrupt;
  const TemporaryFolder temporary;
  const Trial trial(plan, run, program, temporary.path());
  const auto began = Clock::now();
  std::optional<int> status;
  double memory = 0, seconds = 0;
  while (!(status = trial.process->poll())) {
    check_not_stopped(interrupt);
    memory = std::max(memory, memory_of(trial.process->id()).peak);
    seconds = std::chrono::duration<double>(Clock::now() - began).count();
    if (time_of(trial.run).done >= kMeasured || seconds > kAtMost) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  if (!status) {
    trial.process->send(SIGTERM);
    trial.process->wait();
  } else if (*status != 0) {
    return {.from = "nothing: " + run.title + " fails: " + trial.refusal(*status)};
  }
  const RunTime time = time_of(trial.run);
  if (!time.total) return {.from = "nothing: " + run.title + " made no step in " + duration(kAtMost)};
  return {.from = (time.finished ? "all of " : duration(time.done) + " of ") + run.title +
                  ", trained in a temporary folder",
          .seconds_per_run = *time.total + std::max(0.0, seconds - time.done),  // the rest is its start
          .bytes_per_run = disk_with_model(trial.run.folder),
          .memory_per_run = memory};
}

}  // namespace heed::cli
