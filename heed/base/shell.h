// Quoting of printed shell commands.

#pragma once

#include <string>

namespace heed {

/// The argument quoted for a POSIX shell: unchanged if no character is special, else in single quotes.
std::string quoted_for_shell(const std::string& word);

}  // namespace heed
