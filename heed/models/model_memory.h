// Checks whether a model fits into memory while it is constructed, before its memory is used up.

#pragma once

#include <cstdint>
#include <string>

#include "heed/base/memory.h"
#include "heed/base/settings.h"
#include "heed/torch_support/memory_limit.h"

namespace heed {

/// Throws Error that names the largest size below `model`: "recipe: model.features.dim is 65536, so the model would
/// take at least 69 GB for weights, gradients and optimizer, but 24 GB are free; lower it". needed, free: bytes.
[[noreturn]] void refuse_memory(const Settings& model, const std::string& kept_for, double needed, double free);

/// Returns make(). Throws Error if the tensors that make() allocates, times `copies`, need more memory than is
/// available. model: the settings that make() reads; kept_for: what the copies are for, named in the error.
template <typename Make>
auto within_memory(const Settings& model, int copies, const std::string& kept_for, const Make& make) {
  const uint64_t free = available_memory();
  try {
    const MemoryLimit limit(free / static_cast<uint64_t>(copies));
    return make();
  } catch (const MemoryLimitExceeded& error) {
    refuse_memory(model, kept_for, static_cast<double>(error.needed) * copies, static_cast<double>(free));
  }
}

}  // namespace heed
