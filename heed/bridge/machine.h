// The processor, as a report should name it.

#pragma once

#include <string>
#include <vector>

namespace heed {

/// "AMD EPYC 7763", or "unknown".
std::string cpu_model();

/// Of those that kernels could use and this processor has: "avx2", "fma", "avx512f", ...
std::vector<std::string> instruction_sets();

}  // namespace heed
