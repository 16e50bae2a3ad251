#include "apps/cli/ablate/run_time.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <nlohmann/json.hpp>

#include "heed/data/file.h"
#include "heed/data/safetensors.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kTail = 4096;  // bytes of metrics.jsonl that are read

Json parsed(const std::string& text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

double number_or(const Json& object, const char* key, double absent) {
  return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>() : absent;
}

/// The last whole line that is an object; null if there is none.
Json last_line_of(const std::string& path) {
  if (!exists(path)) return nullptr;
  const InputFile file(path);
  const uint64_t size = std::min(file.size(), kTail);
  std::string tail(size, '\0');
  file.read(tail.data(), size, file.size() - size);
  while (!tail.empty()) {
    const size_t end = tail.find_last_not_of('\n');
    if (end == std::string::npos) break;
    const size_t begin = tail.rfind('\n', end) + 1;  // npos + 1 is 0
    if (Json line = parsed(tail.substr(begin, end + 1 - begin)); line.is_object()) return line;
    tail.resize(begin);
  }
  return nullptr;
}

/// Steps of the whole training; 0 if unknown.
double expected_steps(const std::string& checkpoint) {
  if (!exists(checkpoint)) return 0;
  try {
    const Metadata metadata = SafetensorsFile(checkpoint).metadata();
    const auto state = metadata.find("state");
    return state == metadata.end() ? 0 : number_or(parsed(state->second), "expected_steps", 0);
  } catch (const Error&) {
    return 0;
  }
}

/// The mean of the known totals of a cell, or of all cells.
std::map<size_t, double> mean_totals(const std::vector<RunTime>& runs, double& of_all) {
  std::map<size_t, std::pair<double, double>> sums;
  double sum = 0, count = 0;
  for (const auto& run : runs) {
    if (!run.total) continue;
    sums[run.cell].first += *run.total;
    sums[run.cell].second += 1;
    sum += *run.total;
    count += 1;
  }
  of_all = count > 0 ? sum / count : -1;
  std::map<size_t, double> means;
  for (const auto& [cell, known] : sums) means[cell] = known.first / known.second;
  return means;
}

}  // namespace

RunTime time_of(const GridRun& run) {
  RunTime time{.cell = run.cell};
  if (const std::string results = run.folder + "/results.json"; exists(results)) {
    time.done = number_or(parsed(read_file(results)), "train_seconds", 0);
    time.total = time.done;
    time.finished = true;
    return time;
  }
  const Json line = last_line_of(run.folder + "/metrics.jsonl");
  const double step = number_or(line, "step", 0), steps = expected_steps(run.folder + "/checkpoint.safetensors");
  time.done = number_or(line, "seconds", 0);
  if (step > 0 && steps > 0 && time.done > 0) time.total = time.done * std::max(1.0, steps / step);
  return time;
}

std::optional<double> seconds_left(const std::vector<RunTime>& runs, double overhead, int jobs) {
  double of_all = 0, left = 0, longest = 0;
  const auto means = mean_totals(runs, of_all);
  for (const auto& run : runs) {
    if (run.finished) continue;
    const auto mean = means.find(run.cell);
    const double total = run.total ? *run.total : mean != means.end() ? mean->second : of_all;
    if (total < 0) return std::nullopt;
    const double rest = std::max(0.0, total - run.done) + overhead;
    left += rest;
    longest = std::max(longest, rest);
  }
  return std::max(longest, left / std::max(1, jobs));
}

double disk_of(const std::string& folder) {
  std::error_code error;
  double bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error))
    if (entry.is_regular_file(error)) bytes += static_cast<double>(entry.file_size(error));
  return bytes;
}

}  // namespace heed::cli
