#include "heed/torch_support/memory_limit.h"

#include <atomic>
#include <limits>
#include <memory>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <torch/version.h>

#include "heed/base/excerpt.h"

namespace heed {
namespace {

/// Bookkeeping of one allocation, which may outlive the scope.
struct Block {
  c10::DataPtr data;
  std::shared_ptr<std::atomic<uint64_t>> used;
  uint64_t bytes;
};

void free_block(void* pointer) {
  const auto* block = static_cast<Block*>(pointer);
  *block->used -= block->bytes;
  delete block;
}

}  // namespace

struct MemoryLimit::Allocator final : c10::Allocator {
  explicit Allocator(uint64_t bytes) : limit(bytes), inner(c10::GetCPUAllocator()) {}

#if TORCH_VERSION_MAJOR >= 2
  c10::DataPtr allocate(size_t bytes) override {
    return allocate_within(bytes);
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    inner->copy_data(to, from, bytes);
  }
#else
  c10::DataPtr allocate(size_t bytes) const override {
    return allocate_within(bytes);
  }
#endif

  c10::DataPtr allocate_within(size_t bytes) const {
    const uint64_t needed = *used + bytes;
    if (needed > limit)
      throw MemoryLimitExceeded("tensors need at least " + readable_bytes(static_cast<double>(needed)) +
                                    ", expected at most " + readable_bytes(static_cast<double>(limit)),
                                needed);
    auto data = inner->allocate(bytes);
    void* const address = data.get();
    *used += bytes;
    return {address, new Block{std::move(data), used, bytes}, &free_block, c10::Device(c10::DeviceType::CPU)};
  }

  uint64_t limit;
  c10::Allocator* inner;
  std::shared_ptr<std::atomic<uint64_t>> used = std::make_shared<std::atomic<uint64_t>>(0);
};

MemoryLimit::MemoryLimit(uint64_t bytes) : allocator_(new Allocator(bytes)) {
  c10::SetCPUAllocator(allocator_);
}

MemoryLimit::~MemoryLimit() {
  c10::SetCPUAllocator(allocator_->inner);
  allocator_->limit = std::numeric_limits<uint64_t>::max();
}

}  // namespace heed
