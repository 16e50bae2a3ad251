#include "apps/cli/ablate/run_state.h"

#include <csignal>
#include <cstring>
#include <sstream>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "heed/data/file.h"
#include "heed/data/folder_lock.h"

namespace heed::cli {
namespace {

constexpr int kFirstSignal = 128;
constexpr const char* kError = "heed: ";

std::string failure_file(const GridRun& run) {
  return run.folder + ".failed.json";
}

/// The folder in which heed train prepares a new run.
std::string staging_of(const GridRun& run) {
  const size_t slash = run.folder.rfind('/');
  return run.folder.substr(0, slash + 1) + "." + run.folder.substr(slash + 1) + ".new";
}

bool is_object_file(const std::string& path) {
  return exists(path) && nlohmann::json::parse(read_file(path), nullptr, /*allow_exceptions=*/false).is_object();
}

}  // namespace

RunState state_of(const GridRun& run) {
  if (is_object_file(run.folder + "/results.json")) return RunState::finished;
  if (failure_of(run)) return RunState::failed;
  return exists(run.folder + "/checkpoint.safetensors") ? RunState::started : RunState::untouched;
}

std::optional<RunFailure> failure_of(const GridRun& run) {
  if (!exists(failure_file(run))) return std::nullopt;
  const auto json = nlohmann::json::parse(read_file(failure_file(run)), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  return RunFailure{json.value("status", 1), json.value("reason", "unknown")};
}

void write_failure(const GridRun& run, const RunFailure& failure) {
  const nlohmann::ordered_json json{{"status", failure.status}, {"reason", failure.reason}};
  write_atomically(failure_file(run), json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void forget_failure(const GridRun& run, bool all) {
  const auto failure = failure_of(run);
  if (failure && (all || failure->status > kFirstSignal)) ::unlink(failure_file(run).c_str());
}

std::string reason_in(const std::string& log, int status) {
  std::istringstream lines(log);
  std::string last, error;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    last = line;
    if (line.rfind(kError, 0) == 0) error = line.substr(std::strlen(kError));
  }
  if (!error.empty()) return error;
  const int signal = status - kFirstSignal;
  const std::string ended = signal > 0 ? "ended by signal " + std::to_string(signal) +
                                             (signal == SIGKILL ? ", as the system does when memory runs out" : "")
                                       : "ended with status " + std::to_string(status);
  return last.empty() ? ended : ended + ": " + last;
}

RunAction action_for(RunState state, bool held) {
  if (state == RunState::finished || state == RunState::failed) return RunAction::none;
  if (held) return RunAction::wait;
  return state == RunState::started ? RunAction::resume : RunAction::start;
}

std::string holder_of(const GridRun& run) {
  const std::string own = FolderLock::holder(run.folder);
  return own.empty() ? FolderLock::holder(staging_of(run)) : own;
}

std::string log_of(const GridRun& run) {
  return run.folder + ".log";
}

}  // namespace heed::cli
