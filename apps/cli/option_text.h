// The text of an option, as the manual page and the completions show it.

#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace heed::cli {

struct OptionText {
  std::vector<std::string> names;  // "-h", "--help"; a positional has its bare name
  std::string value;               // type, such as "INT"; empty for a flag
  std::string description;         // with range and default
  std::vector<std::string> choices;
  bool positional = false, required = false, repeats = false;
};

/// The options that the help of a command (or of the program) shows, positionals first.
std::vector<OptionText> option_texts(const CLI::App& command);
/// The commands that the help shows, in the same order.
std::vector<const CLI::App*> shown_commands(const CLI::App& app);

}  // namespace heed::cli
