// The name of this program in commands that are printed to be pasted into a shell.

#pragma once

#include <string>

namespace heed::cli {

/// As the user started it, quoted for a shell: the path they wrote ("build/release/bin/heed", "./heed"), or "heed"
/// where the shell found it on the PATH. It holds in the folder where the program was started.
std::string program_name();

/// The same for a given argv[0]; path: the value of PATH, self: the file of the program, for an argv[0] that is on no
/// PATH.
std::string program_name(const std::string& started_as, const std::string& path, const std::string& self);

}  // namespace heed::cli
