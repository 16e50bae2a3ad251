// A limit on the memory of tensors, so that a model that is too large is refused while it is being built.

#pragma once

#include <cstdint>

#include "heed/base/check.h"

namespace heed {

/// Thrown by an allocation beyond the limit.
struct MemoryLimitExceeded : Error {
  MemoryLimitExceeded(const std::string& what, uint64_t bytes) : Error(what), needed(bytes) {}
  uint64_t needed;  // bytes of all live tensors, including the one that did not fit
};

/// Scope guard: limits the total bytes of live CPU tensors that are allocated inside it. An allocation beyond the limit
/// throws MemoryLimitExceeded. It replaces torch's global CPU allocator, so only one thread may open and close such
/// scopes.
class MemoryLimit {
 public:
  explicit MemoryLimit(uint64_t bytes);
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit();

 private:
  struct Allocator;
  Allocator* allocator_;  // never deleted: tensors allocated here may outlive the scope and refer to it
};

}  // namespace heed
