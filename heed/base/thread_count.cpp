#include "heed/base/thread_count.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sched.h>
#include <thread>

namespace heed {

int threads_from_affinity() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));  // more processors than the set can name
}

int default_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  char* end = nullptr;
  const int64_t given = text ? std::strtol(text, &end, 10) : 0;
  const bool number = end != text && (*end == '\0' || *end == ',' || *end == ' ');  // libgomp warns of anything else
  const int64_t wanted = text && number && given >= 1 ? given : threads_from_affinity();
  return static_cast<int>(std::min<int64_t>(wanted, kMaxThreads));
}

}  // namespace heed
