// Text for commands that are printed to be pasted into a shell.

#pragma once

#include <string>

namespace heed {

/// The word as a POSIX shell reads it back: plain where every character is harmless, otherwise in single quotes.
std::string quoted_for_shell(const std::string& word);

}  // namespace heed
