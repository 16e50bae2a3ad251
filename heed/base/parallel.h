// How code without threads of its own runs on the caller's.

#pragma once

#include <cstdint>
#include <functional>

namespace heed {

/// Runs body(0) ... body(tasks - 1), each once, in any order and on any threads; returns when all have run.
using ParallelFor = std::function<void(int64_t tasks, const std::function<void(int64_t)>& body)>;

/// One after the other, on the calling thread.
inline void in_order(int64_t tasks, const std::function<void(int64_t)>& body) {
  for (int64_t i = 0; i < tasks; ++i) body(i);
}

}  // namespace heed
