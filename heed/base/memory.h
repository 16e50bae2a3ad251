// How much memory this process may still use.

#pragma once

#include <cstdint>
#include <string>

namespace heed {

/// Bytes that can be allocated without swapping: what the kernel calls available, at most what the control group
/// allows. HEED_MEMORY=24G (or 500M, or bytes) replaces the answer, for machines that know better.
uint64_t available_memory();

/// "24G" -> 24'000'000'000; refuses what is no size.
uint64_t parse_memory(const std::string& text);

}  // namespace heed
