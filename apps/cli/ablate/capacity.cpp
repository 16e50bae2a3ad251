#include "apps/cli/ablate/capacity.h"

#include <algorithm>
#include <fstream>

namespace heed::cli {
namespace {

constexpr double kGuess = 500e6;  // bytes: libtorch, the text and a small model
constexpr double kMargin = 1.1;   // peaks of runs differ a little

}  // namespace

ProcessMemory memory_of(pid_t process) {
  ProcessMemory memory;
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  std::string name, rest;
  for (double kilobytes = 0; file >> name; std::getline(file, rest)) {
    if (name != "VmHWM:" && name != "VmRSS:") continue;
    if (file >> kilobytes) (name == "VmHWM:" ? memory.peak : memory.now) = 1024 * kilobytes;
  }
  return memory;
}

int jobs_for(int processors, int threads) {
  return std::max(1, processors / std::max(1, threads));
}

double expected_memory(const MemoryUse& use) {
  double peak = use.finished_peak;
  for (const auto& run : use.running) peak = std::max(peak, run.peak);
  return kMargin * std::max(peak, use.finished_peak > 0 ? 0 : kGuess);
}

bool fits_another(const MemoryUse& use) {
  if (use.running.empty()) return true;
  const double expected = expected_memory(use);
  double needed = expected;
  for (const auto& run : use.running) needed += std::max(0.0, expected - run.now);
  return needed <= use.available;
}

}  // namespace heed::cli
