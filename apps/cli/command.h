// A command of the program. It enters itself with one object in its own file, so adding a command edits no list.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace heed::cli {

class Command {
 public:
  using Add = void (*)(CLI::App& app);  // adds a subcommand with its options and what it calls

  /// place: in the help; commands that belong together stand together.
  Command(int order, Add add);
  /// In the order of the help.
  static void add_all(CLI::App& app);
};

/// Values of options. What is none of them is refused with "--beam: got 'x', expected a whole number from 1 to 1000",
/// the value shown in part; NaN and infinities are refused.
CLI::Validator whole_number(int64_t min, int64_t max);
CLI::Validator finite_number(double min, double max);

/// What commands that show weights have in common: --color.
void add_color_option(CLI::App& command, std::string& when);
/// What commands that run a model have in common: --device.
void add_device_option(CLI::App& command, std::string& device);
/// What commands that run a model on any text have in common: --max-length, in tokens.
void add_max_length_option(CLI::App& command, int64_t& max);

}  // namespace heed::cli
