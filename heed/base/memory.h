// How much memory this process may still use.

#pragma once

#include <cstdint>
#include <string>

namespace heed {

/// Bytes that can be allocated without swapping: what the kernel calls available, at most what the control group
/// allows. HEED_MEMORY=24G (or 500M, or bytes) replaces the answer, for machines that know better.
uint64_t available_memory();

/// Of a control group: its limit minus what it holds, without cached pages of files; 2^64 - 1 where there is no limit.
uint64_t left_in_group(const std::string& folder, const std::string& limit_name, const std::string& used_name);

/// "24G" -> 24'000'000'000; refuses what is no size.
uint64_t parse_memory(const std::string& text);

}  // namespace heed
