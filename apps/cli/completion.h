// Completion scripts for shells, generated from the commands and options of the parser.

#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace heed::cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace heed::cli
