#include "heed/kernels/cpu/engine/memory.h"

#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace heed::kernels::cpu {
namespace {

constexpr size_t kLine = 64, kHugePage = size_t{2} << 20;

std::align_val_t alignment(size_t bytes) {
  return std::align_val_t(bytes < kHugePage ? kLine : kHugePage);
}

}  // namespace

Buffer::~Buffer() {
  if (data_ != nullptr) ::operator delete(data_, alignment(bytes_));
}

void* Buffer::reserve(size_t bytes) {
  if (bytes <= bytes_) return data_;
  if (data_ != nullptr) ::operator delete(data_, alignment(bytes_));
  data_ = nullptr;
  bytes_ = 0;
  data_ = ::operator new(bytes, alignment(bytes));
  bytes_ = bytes;
#if defined(__linux__)
  if (bytes >= kHugePage) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
  return data_;
}

void* scratch(Slot slot, size_t bytes) {
  static thread_local Buffer buffers[static_cast<size_t>(Slot::count)];
  return buffers[static_cast<size_t>(slot)].reserve(bytes);
}

void run_tasks(const ParallelFor& parallel_for, int64_t tasks, void (*body)(void*, int64_t), void* context) {
  if (tasks == 1) return body(context, 0);
  if (tasks > 1) parallel_for(tasks, [body, context](int64_t task) { body(context, task); });
}

}  // namespace heed::kernels::cpu
