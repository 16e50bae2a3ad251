// heed info: versions of this program and its libraries, and the hardware of this machine.

#pragma once

#include <ostream>

namespace heed::cli {

/// Prints as text, or as JSON.
void print_info(std::ostream& out, bool json);

}  // namespace heed::cli
