// Memory and tasks for kernels. Nothing here is a template or inline: files that are compiled for one instruction set
// must not leave functions that others would link (see ARCHITECTURE.md).

#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/base/parallel.h"

namespace heed::kernels::fused {

/// Numbers on a cache line; large ones start on a huge page, since streaming through many small ones is slower.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// At least so many bytes, not cleared; what was there before is gone.
  void* reserve(size_t bytes);

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

/// The calling thread's own: kept between calls, since fresh pages would cost more than the work on them. Different
/// uses have different slots.
enum class Slot { tile, weights, grads, query, keys, numbers, copy, second, count };
void* scratch(Slot slot, size_t bytes);

/// body(context, 0) ... body(context, tasks - 1), on the caller's threads.
void run_tasks(const ParallelFor& parallel_for, int64_t tasks, void (*body)(void*, int64_t), void* context);

}  // namespace heed::kernels::fused
