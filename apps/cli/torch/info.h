// heed info: what this program is, and what it found on this machine.

#pragma once

#include <ostream>

namespace heed::cli {

void print_info(std::ostream& out, bool json);

}  // namespace heed::cli
