// Interface through which layers without threads of their own run tasks on the caller's threads.

#pragma once

#include <cstdint>
#include <functional>

namespace heed {

/// Runs body(0) ... body(tasks - 1), each once, in any order and on any thread; returns when all have finished.
using ParallelFor = std::function<void(int64_t tasks, const std::function<void(int64_t)>& body)>;

/// A ParallelFor that runs the tasks sequentially on the calling thread.
inline void in_order(int64_t tasks, const std::function<void(int64_t)>& body) {
  for (int64_t i = 0; i < tasks; ++i) body(i);
}

}  // namespace heed
