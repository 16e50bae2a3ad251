// What the parser knows of an option, as the manual and completions show it.

#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace heed::cli {

struct OptionText {
  std::vector<std::string> names;  // "-h", "--help"; a positional has its bare name
  std::string value;               // "INT", or empty for a flag
  std::string description;         // with the default
  std::vector<std::string> choices;
  bool positional = false, required = false, repeats = false;
};

/// The options of a command (or of the program) that its help shows, positionals first.
std::vector<OptionText> option_texts(const CLI::App& command);
/// The commands that the help shows, in its order.
std::vector<const CLI::App*> shown_commands(const CLI::App& app);

}  // namespace heed::cli
