#include "apps/cli/ablate/estimate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "apps/cli/ablate/capacity.h"
#include "apps/cli/ablate/run_state.h"
#include "apps/cli/ablate/run_time.h"
#include "apps/cli/amount_text.h"
#include "apps/cli/child_program.h"
#include "apps/cli/compare.h"
#include "apps/cli/screen.h"
#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/interrupt.h"
#include "heed/base/memory.h"
#include "heed/base/thread_count.h"
#include "heed/data/file.h"

namespace heed::cli {
namespace {

constexpr double kMeasured = 10, kAtMost = 90;  // seconds of training that are measured, and of the whole attempt
constexpr double kStart = 2;                    // seconds of a finished run that were not training, roughly

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

/// Trains the first steps of a run elsewhere.
Estimate measured(const Plan& plan, const GridRun& run, const std::string& program) {
  using Clock = std::chrono::steady_clock;
  const InterruptScope interrupt;
  const TemporaryFolder temporary;
  const GridRun trial{run.cell, run.seed, temporary.path() + "/run", run.title};
  write_atomically(recipe_path(temporary.path()), plan.base);
  std::vector<std::string> arguments{"--threads", std::to_string(plan.threads), "train", "--quiet",
                                     recipe_path(temporary.path())};
  for (const auto& setting : overrides_of(plan, run)) arguments.push_back(setting);
  arguments.insert(arguments.end(), {"train.log_every=1", "run.dir=" + trial.folder});
  ChildProgram process(program, arguments, log_of(trial));
  const auto began = Clock::now();
  std::optional<int> status;
  double memory = 0, seconds = 0;
  while (!(status = process.poll()) && !interrupt.asked()) {
    memory = std::max(memory, memory_of(process.id()).peak);
    seconds = std::chrono::duration<double>(Clock::now() - began).count();
    if (time_of(trial).done >= kMeasured || seconds > kAtMost) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  check(!interrupt.asked(), "ablate: stopped while the first steps of a run were measured");
  if (!status) {
    process.send(SIGTERM);
    process.wait();
  } else if (*status != 0) {
    return {.from = "nothing: " + run.title + " fails: " + reason_in(read_file(log_of(trial)), *status)};
  }
  const RunTime time = time_of(trial);
  if (!time.total) return {.from = "nothing: " + run.title + " made no step in " + duration(kAtMost)};
  return {.from = (time.finished ? "all of " : duration(time.done) + " of ") + run.title +
                  ", trained in a temporary folder",
          .seconds_per_run = *time.total + std::max(0.0, seconds - time.done),  // the rest is its start
          .bytes_per_run = disk_with_model(trial.folder),
          .memory_per_run = memory};
}

/// The mean of the finished runs.
Estimate from_finished(const std::vector<GridRun>& finished) {
  double seconds = 0, bytes = 0, memory = 0;
  for (const auto& run : finished) {
    seconds += time_of(run).done + kStart;
    bytes += disk_of(run.folder);
    memory = std::max(memory, read_run_summary(run.folder).peak_memory.value_or(0));
  }
  const auto count = static_cast<double>(finished.size());
  return {.from = "the " + std::to_string(finished.size()) + " finished runs",
          .seconds_per_run = seconds / count,
          .bytes_per_run = bytes / count,
          .memory_per_run = memory};
}

int jobs_of(const Plan& plan, int asked, size_t left, const Estimate& estimate) {
  int jobs = asked > 0 ? asked : jobs_for(threads_from_affinity(), plan.threads);
  if (const double memory = estimate.memory_per_run.value_or(0); memory > 0 && asked == 0)
    jobs = std::min(jobs, std::max(1, static_cast<int>(static_cast<double>(available_memory()) / memory)));
  return std::max(1, std::min(jobs, static_cast<int>(left)));
}

}  // namespace

DryRun dry_run(const Plan& plan, const std::string& folder, const std::string& program, int jobs) {
  DryRun found;
  found.cells = plan.cells.size();
  found.seeds = plan.seeds.size();
  std::vector<GridRun> finished, left;
  for (const auto& run : runs_of(plan, folder)) {
    const RunState state = state_of(run);
    ++(state == RunState::finished  ? found.finished
       : state == RunState::started ? found.started
       : state == RunState::failed  ? found.failed
                                    : found.untouched);
    if (state == RunState::finished) finished.push_back(run);
    if (state == RunState::started || state == RunState::untouched) left.push_back(run);
  }
  for (const auto& run : left) found.left.push_back(run.title);
  if (left.empty()) return found;
  found.estimate = finished.empty() ? measured(plan, left.front(), program) : from_finished(finished);
  found.jobs = jobs_of(plan, jobs, left.size(), found.estimate);
  const auto count = static_cast<double>(left.size());
  if (const auto seconds = found.estimate.seconds_per_run) found.seconds = *seconds * std::ceil(count / found.jobs);
  if (const auto bytes = found.estimate.bytes_per_run) found.bytes = *bytes * count;
  return found;
}

void print_dry_run(std::ostream& out, const DryRun& found) {
  out << found.cells << " cells x " << found.seeds << " seeds = " << found.runs() << " runs: " << found.finished
      << " finished, " << found.started << " started, " << found.failed << " failed, " << found.untouched
      << " untouched\n";
  for (const auto& title : found.left) out << "  " << printable(title) << '\n';
  if (found.left.empty()) return;
  out << "at once: " << found.jobs;
  if (const auto memory = found.estimate.memory_per_run) out << ", " << megabytes(*memory) << " of memory each";
  out << '\n';
  if (found.seconds) out << "time: about " << duration(*found.seconds) << '\n';
  if (found.bytes) out << "disk: about " << readable_bytes(*found.bytes) << '\n';
  out << "estimated from " << printable(found.estimate.from) << '\n';
}

nlohmann::ordered_json as_json(const DryRun& found) {
  const auto number = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  return {{"runs", found.runs()},
          {"finished", found.finished},
          {"started", found.started},
          {"failed", found.failed},
          {"left", found.left},
          {"at_once", found.jobs},
          {"seconds", number(found.seconds)},
          {"bytes", number(found.bytes)},
          {"estimated_from", found.estimate.from}};
}

}  // namespace heed::cli
