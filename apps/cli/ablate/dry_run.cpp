#include "apps/cli/ablate/dry_run.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/cli/ablate/capacity.h"
#include "apps/cli/ablate/run_state.h"
#include "apps/cli/ablate/run_time.h"
#include "apps/cli/amount_text.h"
#include "apps/cli/compare.h"
#include "apps/cli/screen.h"
#include <nlohmann/json.hpp>

#include "heed/base/excerpt.h"
#include "heed/base/memory.h"
#include "heed/base/thread_count.h"

namespace heed::cli {
namespace {

constexpr double kStart = 2;  // seconds of a finished run that were not training, roughly

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

/// The first run of every cell of which none has begun.
std::vector<GridRun> runs_to_try(const Plan& plan, const std::string& folder) {
  std::vector<bool> begun(plan.cells.size(), false);
  std::map<size_t, GridRun> first;
  for (const auto& run : runs_of(plan, folder)) {
    if (state_of(run) != RunState::untouched) begun[run.cell] = true;
    first.emplace(run.cell, run);
  }
  std::vector<GridRun> runs;
  for (const auto& [cell, run] : first)
    if (!begun[cell]) runs.push_back(run);
  return runs;
}

}  // namespace

DryRun dry_run(const Plan& plan, const std::string& folder, const std::string& program, int jobs) {
  DryRun found;
  found.cells = plan.cells.size();
  found.seeds = plan.seeds.size();
  const auto refused = refused_cells(plan, runs_to_try(plan, folder), program);
  for (const auto& [cell, reason] : refused) found.refused.emplace_back(plan.cells[cell].name, reason);
  std::vector<GridRun> finished, left;
  for (const auto& run : runs_of(plan, folder)) {
    const RunState state = state_of(run);
    ++(state == RunState::finished  ? found.finished
       : state == RunState::started ? found.started
       : state == RunState::failed  ? found.failed
                                    : found.untouched);
    if (state == RunState::finished) finished.push_back(run);
    if ((state == RunState::started || state == RunState::untouched) && refused.count(run.cell) == 0)
      left.push_back(run);
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
  for (const auto& [cell, reason] : found.refused)
    out << "refused: " << printable(cell) << ": " << printable(reason) << '\n';
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
  nlohmann::ordered_json refused = nlohmann::ordered_json::array();
  for (const auto& [cell, reason] : found.refused) refused.push_back({{"cell", cell}, {"reason", reason}});
  return {{"runs", found.runs()},         {"finished", found.finished},
          {"started", found.started},     {"failed", found.failed},
          {"left", found.left},           {"refused", refused},
          {"at_once", found.jobs},        {"seconds", number(found.seconds)},
          {"bytes", number(found.bytes)}, {"estimated_from", found.estimate.from}};
}

}  // namespace heed::cli
