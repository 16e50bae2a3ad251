// How many runs fit on the machine at once: as many as there are processors for their threads, and as fit into memory.

#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace heed::cli {

/// Memory of a running process, in bytes; 0 if it is unknown.
struct ProcessMemory {
  double now = 0, peak = 0;
};
ProcessMemory memory_of(pid_t process);

/// Runs at once by processors: those of this process, divided by the threads of a run; at least 1.
int jobs_for(int processors, int threads);

struct MemoryUse {
  double available = 0;                  // bytes that can still be allocated on this machine
  double finished_peak = 0;              // the largest peak of a finished run; 0: none is known
  std::vector<ProcessMemory> running{};  // the runs that go on
};

/// Memory that a run may need: what is known of the others, or a guess.
double expected_memory(const MemoryUse& use);
/// Whether another run fits: it and what the running ones will still grow by. The first one always does.
bool fits_another(const MemoryUse& use);

}  // namespace heed::cli
