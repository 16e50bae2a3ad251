// Commands that a user can paste, written with the name of this program.

#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace heed::cli {

/// The command with the program's name in place of {}: "echo 'Tom sleeps' | {} translate runs/demo/additive".
std::string pasteable(const std::string& command);

/// Adds commands to the help of a subcommand; they work in a folder where the demo was run.
void add_examples(CLI::App& subcommand, const std::vector<std::string>& commands, const std::string& note = "");

}  // namespace heed::cli
