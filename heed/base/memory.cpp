#include "heed/base/memory.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <unistd.h>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/scalar.h"

namespace heed {
namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();

/// The number in a file of the control group; kUnknown if there is no file, or it says "max".
uint64_t number_in(const std::string& path) {
  uint64_t value = 0;
  std::ifstream file(path);
  return file >> value ? value : kUnknown;
}

}  // namespace

uint64_t left_in_group(const std::string& folder, const std::string& limit_name, const std::string& used_name) {
  const uint64_t limit = number_in(folder + limit_name), used = number_in(folder + used_name);
  if (limit == kUnknown || used == kUnknown) return kUnknown;
  uint64_t cached = 0, value = 0;  // cached: page cache, which the kernel reclaims under memory pressure
  std::ifstream statistics(folder + "memory.stat");
  for (std::string name; statistics >> name >> value;)
    if (name == "active_file" || name == "inactive_file") cached += value;
  const uint64_t held = used > cached ? used - cached : 0;
  return limit > held ? limit - held : 0;
}

namespace {

uint64_t available_on_machine() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (uint64_t kilobytes = 0; file >> name >> kilobytes; std::getline(file, unit))
    if (name == "MemAvailable:") return kilobytes * 1024;
  const auto pages = ::sysconf(_SC_AVPHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) : kUnknown;
}

}  // namespace

uint64_t peak_memory() {
  std::ifstream file("/proc/self/status");  // getrusage() would count what a process had before it started this program
  std::string name, rest;
  for (uint64_t kilobytes = 0; file >> name; std::getline(file, rest))
    if (name == "VmHWM:") return file >> kilobytes ? kilobytes * 1024 : 0;
  return 0;
}

uint64_t parse_memory(const std::string& text) {
  double factor = 1, value = 0;
  std::string digits = text;
  if (!digits.empty()) {
    factor = digits.back() == 'G' ? 1e9 : digits.back() == 'M' ? 1e6 : 1;
    if (factor > 1) digits.pop_back();
  }
  check(read_number(digits, value) && value > 0 && value * factor < 1e18, "HEED_MEMORY: got '", excerpt(text),
        "', expected a size such as 24G or 500M");
  return static_cast<uint64_t>(value * factor);
}

uint64_t available_memory() {
  if (const char* given = std::getenv("HEED_MEMORY"); given != nullptr && *given != '\0') return parse_memory(given);
  return std::min({available_on_machine(), left_in_group("/sys/fs/cgroup/", "memory.max", "memory.current"),
                   left_in_group("/sys/fs/cgroup/memory/", "memory.limit_in_bytes", "memory.usage_in_bytes")});
}

}  // namespace heed
