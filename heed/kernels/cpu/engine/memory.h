// Memory and tasks for kernels. Nothing here is a template or inline: a file compiled for one instruction set must not
// define functions that code for another would link (see ARCHITECTURE.md).

#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/base/parallel.h"

namespace heed::kernels::cpu {

/// A buffer aligned to a cache line. A large one is on huge pages, since streaming over many small pages is slower.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Returns at least `bytes` bytes, uninitialized; previous contents are lost.
  void* reserve(size_t bytes);

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

/// Scratch memory of the calling thread. It is kept between calls, since page faults would cost more than the work on
/// it. Different uses have different slots.
enum class Slot { tile, weights, grads, query, keys, numbers, copy, second, count };
void* scratch(Slot slot, size_t bytes);

/// Runs body(context, 0) ... body(context, tasks - 1) on the caller's threads.
void run_tasks(const ParallelFor& parallel_for, int64_t tasks, void (*body)(void*, int64_t), void* context);

}  // namespace heed::kernels::cpu
