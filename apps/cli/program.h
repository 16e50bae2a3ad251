// The program heed: parses the command line and runs a command. It links no torch (apps/cli/module.h).

#pragma once

namespace heed::cli {

/// Returns the exit status: 0 only on success, 2 for a wrong command line.
int run_program(int argc, char** argv);

}  // namespace heed::cli
