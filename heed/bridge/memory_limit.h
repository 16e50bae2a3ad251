// A limit on the memory of tensors, so that a model that cannot fit is refused before it is made.

#pragma once

#include <cstdint>

#include "heed/base/check.h"

namespace heed {

/// What a tensor beyond the limit throws.
struct MemoryLimitExceeded : Error {
  MemoryLimitExceeded(const std::string& what, uint64_t bytes) : Error(what), needed(bytes) {}
  uint64_t needed;  // bytes of all tensors, with the one that did not fit
};

/// While it lives, tensors on the CPU may take so many bytes together, those that are freed not counted. One that would
/// go beyond is not allocated. For the thread that builds a model: it takes the place of torch's allocator, so no other
/// thread may make or end such a scope meanwhile.
class MemoryLimit {
 public:
  explicit MemoryLimit(uint64_t bytes);
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit();

 private:
  struct Allocator;
  Allocator* allocator_;  // never deleted: tensors that were made here keep its address
};

}  // namespace heed
