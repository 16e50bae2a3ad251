#include "heed/torch_support/memory_limit.h"

#include <atomic>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <torch/version.h>

#include "heed/base/excerpt.h"

namespace heed {
namespace {

/// Bookkeeping of one allocation, which may outlive the scope; it lies before the memory itself, whose address is the
/// context of a DataPtr, as raw_allocate() of torch expects.
struct Block {
  c10::DataPtr data;
  std::shared_ptr<std::atomic<uint64_t>> used;
  uint64_t bytes;
};
constexpr size_t kHeader = 64;  // the alignment of torch
static_assert(sizeof(Block) <= kHeader);

void free_block(void* pointer) {
  if (pointer == nullptr) return;
  auto* block = reinterpret_cast<Block*>(static_cast<char*>(pointer) - kHeader);
  *block->used -= block->bytes;
  const c10::DataPtr data = std::move(block->data);  // freed after what lies in it
  block->~Block();
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
    auto data = inner->allocate(kHeader + bytes);
    auto* const base = static_cast<char*>(data.get());
    *used += bytes;
    new (base) Block{std::move(data), used, bytes};
    void* const address = base + kHeader;
    return {address, address, &free_block, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return &free_block;
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
