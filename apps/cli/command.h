// A command of the program. A static object in its own file registers it, so adding a command edits no list.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace heed::cli {

class Command {
 public:
  using Add = void (*)(CLI::App& app);  // adds a subcommand with its options and callback

  /// order: position in the help, ascending; related commands have adjacent numbers.
  Command(int order, Add add);
  /// Adds every registered command to the app, in the order of the help.
  static void add_all(CLI::App& app);
};

/// Validators of option values in [min, max]. The error is "--beam: got 'x', expected a whole number from 1 to 1000",
/// with a long value shortened. NaN and infinities are refused.
CLI::Validator whole_number(int64_t min, int64_t max);
CLI::Validator finite_number(double min, double max);

/// Adds a note and example commands to the help of a subcommand, with the name of this program in place of {}. The
/// commands work in a folder where `heed demo` ran.
void add_examples(CLI::App& subcommand, const std::vector<std::string>& commands, const std::string& note = "");

/// Adds --color, for commands that show weights.
void add_color_option(CLI::App& command, std::string& when);
/// Adds --device, for commands that run a model.
void add_device_option(CLI::App& command, std::string& device);
/// Adds --max-length, in tokens, for commands that run a model on text of the user.
void add_max_length_option(CLI::App& command, int64_t& max);

}  // namespace heed::cli
