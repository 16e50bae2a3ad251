// Names of processor and compiler for reports.

#pragma once

#include <string>
#include <vector>

namespace heed {

/// "AMD EPYC 7763", or "unknown".
std::string cpu_model();

/// Instruction sets of this processor that are relevant to kernels: "avx2", "fma", "avx512f", ...
std::vector<std::string> instruction_sets();

/// "g++ 12.2.0"
std::string compiler();

}  // namespace heed
