#include "heed/base/machine.h"

#include <fstream>

namespace heed {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> found;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) found.emplace_back("avx2");
  if (__builtin_cpu_supports("fma")) found.emplace_back("fma");
  if (__builtin_cpu_supports("avx512f")) found.emplace_back("avx512f");
  if (__builtin_cpu_supports("avx512bw")) found.emplace_back("avx512bw");
  if (__builtin_cpu_supports("avx512dq")) found.emplace_back("avx512dq");
  if (__builtin_cpu_supports("avx512vl")) found.emplace_back("avx512vl");
  if (__builtin_cpu_supports("avx512bf16")) found.emplace_back("avx512bf16");
#elif defined(__aarch64__)
  found.emplace_back("neon");
#endif
  return found;
}

std::string compiler() {
#if defined(__clang__)
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

}  // namespace heed
