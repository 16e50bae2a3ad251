// A command of the program. It enters itself with one object in its own file, so adding a command edits no list.

#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace heed::cli {

class Command {
 public:
  using Add = void (*)(CLI::App& app);  // adds a subcommand with its options and what it calls

  /// place: in the help; commands that belong together stand together.
  Command(int place, Add add);
  /// In the order of the help.
  static void add_all(CLI::App& app);
};

/// What commands that show weights have in common: --color.
void add_colour_option(CLI::App& command, std::string& when);
/// What commands that run a model have in common: --device.
void add_device_option(CLI::App& command, std::string& device);

}  // namespace heed::cli
