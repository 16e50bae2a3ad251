// Memory that is available to this process, and that it has had.

#pragma once

#include <cstdint>
#include <string>

namespace heed {

/// Bytes that can be allocated without swapping: MemAvailable of the kernel, limited by the control group (cgroup v1 or
/// v2). HEED_MEMORY=24G (or 500M, or bytes) overrides it.
uint64_t available_memory();

/// The most bytes of memory that this process has had at once (resident), 0 if the system does not say. Counted from
/// its start; what the process that started it had does not matter.
uint64_t peak_memory();

/// Limit of a control group minus its usage, not counting the page cache; 2^64 - 1 if there is no limit.
uint64_t left_in_group(const std::string& folder, const std::string& limit_name, const std::string& used_name);

/// "24G" -> 24'000'000'000; throws Error if the text is not a size.
uint64_t parse_memory(const std::string& text);

}  // namespace heed
