#include "apps/cli/ablate/grid.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <memory>
#include <thread>

#include "apps/cli/ablate/capacity.h"
#include "apps/cli/ablate/run_state.h"
#include "apps/cli/ablate/run_time.h"
#include "apps/cli/amount_text.h"
#include "apps/cli/child_program.h"
#include "apps/cli/compare.h"

#include "heed/base/interrupt.h"
#include "heed/base/memory.h"
#include "heed/base/thread_count.h"
#include "heed/data/file.h"

namespace heed::cli {
namespace {

using GridClock = std::chrono::steady_clock;

constexpr auto kPollEvery = std::chrono::milliseconds(50);
constexpr double kTimesEvery = 5;       // seconds between looks at the files of all runs
constexpr double kDefaultOverhead = 4;  // seconds of a run that are not training, before one has been measured

double seconds_after(GridClock::time_point begin) {
  return std::chrono::duration<double>(GridClock::now() - begin).count();
}

/// A run that a process trains.
struct RunAtWork {
  GridRun run;
  std::unique_ptr<ChildProgram> process;
  GridClock::time_point began;
  double seconds_before = 0;  // of training, by earlier processes
};

class GridTraining {
 public:
  GridTraining(const GridWork& work, const GridOptions& options, GridProgress& progress)
      : work_(work), options_(options), progress_(progress) {
    jobs_ = options.jobs > 0 ? options.jobs : jobs_for(threads_from_affinity(), work.threads);
    sort_into_states();
  }

  int run() {
    const InterruptScope interrupt;
    while (!waiting_.empty() || !at_work_.empty()) {
      if (interrupt.asked()) return stop(interrupt.signal());  // before collect(): a Ctrl-C reaches the runs too
      collect();
      start_some();
      update_progress();
      std::this_thread::sleep_for(kPollEvery);
    }
    return 0;
  }

 private:
  /// Started runs go first, so that a grid has few of them.
  void sort_into_states() {
    std::deque<size_t> untouched;
    for (size_t i = 0; i < work_.runs.size(); ++i) {
      const GridRun& run = work_.runs[i];
      forget_failure(run, options_.retry);
      const RunState state = state_of(run);
      if (state == RunState::finished) finish(run);
      if (state == RunState::failed) ++failed_;
      if (state == RunState::started) waiting_.push_back(i);
      if (state == RunState::untouched) untouched.push_back(i);
    }
    waiting_.insert(waiting_.end(), untouched.begin(), untouched.end());
  }

  void finish(const GridRun& run) {
    ++finished_;
    finished_times_.push_back(time_of(run));
    finished_peak_ = std::max(finished_peak_, read_run_summary(run.folder).peak_memory.value_or(0));
  }

  void start_some() {
    for (auto next = waiting_.begin(); next != waiting_.end() && at_work_.size() < static_cast<size_t>(jobs_);) {
      if (!fits_another(memory())) return;
      const GridRun& run = work_.runs[*next];
      const std::string holder = holder_of(run);
      const RunAction action = action_for(state_of(run), !holder.empty());
      if (action == RunAction::wait) {
        say_who_holds(run, holder);
        ++next;
        continue;
      }
      start(*next, action);
      next = waiting_.erase(next);
    }
  }

  void say_who_holds(const GridRun& run, const std::string& holder) {
    if (run.folder == told_) return;
    told_ = run.folder;
    progress_.line("waiting for " + holder + ", which is writing to " + run.folder);
  }

  MemoryUse memory() const {
    MemoryUse use{.available = static_cast<double>(available_memory()), .finished_peak = finished_peak_};
    for (const auto& one : at_work_) use.running.push_back(memory_of(one.process->id()));
    if (std::getenv("HEED_MEMORY") != nullptr)  // it says what there is, not what is left
      for (const auto& one : use.running) use.available -= one.now;
    return use;
  }

  void start(size_t index, RunAction action) {
    const GridRun& run = work_.runs[index];
    make_folders(run.folder.substr(0, run.folder.rfind('/')));
    std::vector<std::string> arguments{"--threads", std::to_string(work_.threads), "train", "--quiet"};
    if (action == RunAction::resume) {
      arguments.insert(arguments.end(), {"--resume", path_argument(run.folder)});
      for (const auto& setting : work_.overrides_when_resumed) arguments.push_back(setting);
    } else {
      arguments.push_back(path_argument(work_.recipe));
      for (const auto& setting : work_.overrides[index]) arguments.push_back(setting);
      arguments.push_back("run.dir=" + run.folder);
    }
    at_work_.push_back({run,
                        std::make_unique<ChildProgram>(options_.program, arguments, log_of(run), work_.working_folder),
                        GridClock::now(), time_of(run).done});
    times_.clear();
  }

  /// A path that is no option.
  static std::string path_argument(const std::string& path) { return (path[0] == '-' ? "./" : "") + path; }

  /// Runs whose processes have ended.
  void collect() {
    for (auto one = at_work_.begin(); one != at_work_.end();) {
      const auto status = one->process->poll();
      if (!status) {
        ++one;
        continue;
      }
      ended(*one, *status);
      one = at_work_.erase(one);
      times_.clear();
    }
  }

  void ended(const RunAtWork& one, int status) {
    const double wall = seconds_after(one.began);
    if (state_of(one.run) == RunState::finished) {
      finish(one.run);
      overhead_ = std::max(0.0, wall - (time_of(one.run).done - one.seconds_before));
      return report(one.run.title + ": " + duration(wall));
    }
    const RunFailure failure{status, reason_in(exists(log_of(one.run)) ? read_file(log_of(one.run)) : "", status)};
    write_failure(one.run, failure);
    ++failed_;
    report(one.run.title + " failed: " + failure.reason);
  }

  void report(const std::string& text) {
    progress_.line(std::to_string(finished_ + failed_) + "/" + std::to_string(work_.runs.size()) + "  " + text);
  }

  /// Ends the runs with their checkpoints. A Ctrl-C of a terminal has reached them already.
  int stop(int signal) {
    progress_.line("stopping " + std::to_string(at_work_.size()) + " runs, which write their checkpoints");
    for (const auto& one : at_work_) one.process->send(SIGTERM);
    for (const auto& one : at_work_) one.process->wait();
    return signal;
  }

  void update_progress() {
    if (times_.empty() || seconds_after(times_read_) > kTimesEvery) read_times();
    progress_.update({finished_, failed_, at_work_.size(), work_.runs.size(),
                      seconds_left(times_, overhead_, std::max(jobs_in_use(), 1))});
  }

  int jobs_in_use() const { return waiting_.empty() ? static_cast<int>(at_work_.size()) : jobs_; }

  void read_times() {
    times_ = finished_times_;
    times_read_ = GridClock::now();
    for (const auto& one : at_work_) times_.push_back(time_of(one.run));
    for (const size_t index : waiting_) times_.push_back(time_of(work_.runs[index]));
  }

  const GridWork& work_;
  const GridOptions& options_;
  GridProgress& progress_;
  int jobs_ = 1;
  std::deque<size_t> waiting_;  // of work_.runs
  std::vector<RunAtWork> at_work_;
  size_t finished_ = 0, failed_ = 0;
  double finished_peak_ = 0, overhead_ = kDefaultOverhead;
  std::vector<RunTime> times_, finished_times_;
  GridClock::time_point times_read_;
  std::string told_;  // the run that was said to be in use
};

}  // namespace

int train_runs(const GridWork& work, const GridOptions& options, GridProgress& progress) {
  return GridTraining(work, options, progress).run();
}

int train_grid(const Plan& plan, const std::string& folder, const GridOptions& options, GridProgress& progress) {
  GridWork work{.recipe = recipe_path(folder), .threads = plan.threads, .runs = runs_of(plan, folder), .overrides = {}};
  for (const auto& run : work.runs) work.overrides.push_back(overrides_of(plan, run));
  return train_runs(work, options, progress);
}

}  // namespace heed::cli
