// The processor and the compiler, as a report should name them.

#pragma once

#include <string>
#include <vector>

namespace heed {

/// "AMD EPYC 7763", or "unknown".
std::string cpu_model();

/// Of those that kernels could use and this processor has: "avx2", "fma", "avx512f", ...
std::vector<std::string> instruction_sets();

/// "g++ 12.2.0"
std::string compiler();

}  // namespace heed
