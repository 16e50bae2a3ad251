// The instruction sets of the CPU backend, for reports.

#pragma once

#include <string>
#include <vector>

namespace heed::backend {

/// The instruction set that float runs on: "avx2".
std::string cpu_instruction_set();
/// Those that this machine supports, slowest first.
std::vector<std::string> cpu_instruction_sets();

}  // namespace heed::backend
