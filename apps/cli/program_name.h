// The name of this program in printed commands, so that they can be pasted into a shell.

#pragma once

#include <string>

namespace heed::cli {

/// The name the user started the program with, quoted for a shell: a path ("build/release/bin/heed", "./heed"), or
/// "heed" if the shell found it on the PATH. Valid in the folder where the program was started.
std::string program_name();

/// The same for a given argv[0]. path: the value of PATH. self: the file of the program, used if argv[0] is not on the
/// PATH.
std::string program_name(const std::string& started_as, const std::string& path, const std::string& self);

/// The command with the program's name in place of {}: "echo 'Tom sleeps' | {} translate runs/demo/additive".
std::string pasteable(const std::string& command);

/// The file of this program, or "" if the system does not say.
std::string program_file();

}  // namespace heed::cli
