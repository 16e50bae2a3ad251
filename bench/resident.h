// Memory that a call needs in addition to its outputs. Each row runs in a process of its own, without earlier peaks.
//
// The measure is the peak of resident memory during the call, minus what was resident just before it, minus the outputs
// and gradients themselves. It depends on malloc: glibc keeps freed blocks below a threshold that it adapts itself, so
// it is measured with the default malloc and with the threshold fixed at 64 KiB.

#pragma once

#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <ATen/ATen.h>

#include "heed/base/check.h"

namespace heed::bench {

constexpr double kMiB = 1024 * 1024;
constexpr int kMallocThreshold = 65536;  // bytes, for mallopt

/// "VmHWM" or "VmRSS" of this process, in MiB.
inline double resident(const std::string& field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(field + ":", 0) == 0) return std::stod(line.substr(field.size() + 1)) / 1024;
  fail("bench: /proc/self/status has no ", field, "; this needs Linux");
}

/// Resets VmHWM to the current VmRSS.
inline void forget_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << 5 << std::flush;
  check(file.good(), "bench: cannot write to /proc/self/clear_refs, which resets the peak of memory");
}

/// MiB that a call needs in addition to the tensors it returns.
template <typename Work>
double memory_of(const Work& work) {
  forget_peak();
  const double before = resident("VmRSS");
  const std::vector<at::Tensor> results = work();
  double taken = resident("VmHWM") - before;
  for (const auto& x : results)
    if (x.defined()) taken -= static_cast<double>(x.nbytes()) / kMiB;
  return taken;
}

inline std::string own_program() {
  char path[4096] = {};
  check(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0, "bench: cannot find its own program");
  return path;
}

/// The output of a new process of this program.
inline std::string output_of(const std::string& options) {
  const std::string command = "'" + own_program() + "' " + options;
  FILE* child = popen(command.c_str(), "r");
  check(child != nullptr, "bench: cannot start ", command);
  std::string text;
  char some[256];
  while (std::fgets(some, sizeof(some), child) != nullptr) text += some;
  check(pclose(child) == 0, "bench: command failed: ", command);
  return text;
}

}  // namespace heed::bench
