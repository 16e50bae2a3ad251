// Example commands in help texts and messages, written with the name of this program so that they can be pasted.

#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace heed::cli {

/// The command with the program's name in place of {}: "echo 'Tom sleeps' | {} translate runs/demo/additive".
std::string pasteable(const std::string& command);

/// Adds a note and example commands to the help of a subcommand. The commands work in a folder where `heed demo` ran.
void add_examples(CLI::App& subcommand, const std::vector<std::string>& commands, const std::string& note = "");

}  // namespace heed::cli
