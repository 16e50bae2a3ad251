#include "apps/cli/manual.h"

#include <iostream>
#include <sstream>

#include "apps/cli/command.h"
#include "apps/cli/option_text.h"

#include "heed/version.h"

namespace heed::cli {
namespace {

/// Text escaped for roff, where '-' is a hyphen and a line that starts with '.' is a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\n')
      out += ' ';
    else
      out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string synopsis(const CLI::App& app, const CLI::App& command) {
  std::string text = "\\fB" + roff(app.get_name() + " " + command.get_name()) + "\\fR";
  for (const auto& option : option_texts(command)) {
    if (!option.positional && !option.required) continue;
    const std::string name = option.positional
                                 ? "\\fI" + roff(option.names.at(0)) + "\\fR"
                                 : "\\fB" + roff(option.names.back()) + "\\fR \\fI" + roff(option.value) + "\\fR";
    const std::string all = name + (option.repeats ? " ..." : "");
    text += option.required ? " " + all : " [" + all + "]";
  }
  return text + " [\\fIoptions\\fR]";
}

void print_options(std::ostream& out, const CLI::App& command) {
  for (const auto& option : option_texts(command)) {
    out << ".TP\n";
    const std::string font = option.positional ? "\\fI" : "\\fB";
    for (size_t i = 0; i < option.names.size(); ++i)
      out << (i > 0 ? ", " : "") << font << roff(option.names[i]) << "\\fR";
    if (!option.positional && !option.value.empty()) out << " \\fI" << roff(option.value) << "\\fR";
    out << '\n' << roff(option.description) << '\n';
  }
}

void add_manual(CLI::App& app) {
  auto* command = app.add_subcommand("manual", "Print the manual page heed(1): heed manual > heed.1");
  command->group("");  // hidden from the help: only the build calls it
  command->callback([&app] { std::cout << manual(app, std::string(kVersion)); });
}

const Command manual_command{100, add_manual};

}  // namespace

std::string manual(const CLI::App& app, const std::string& version) {
  std::ostringstream out;
  out << ".TH HEED 1 \"\" \"heed " << version << "\" \"User Commands\"\n"
      << ".SH NAME\n"
      << app.get_name() << " \\- compose, train and inspect attention mechanisms\n"
      << ".SH SYNOPSIS\n";
  for (const auto* command : shown_commands(app)) out << synopsis(app, *command) << "\n.br\n";
  out << ".SH OPTIONS\n";
  print_options(out, app);
  out << ".SH COMMANDS\n";
  for (const auto* command : shown_commands(app)) {
    out << ".SS " << roff(app.get_name() + " " + command->get_name()) << '\n'
        << roff(command->get_description()) << '\n';
    print_options(out, *command);
  }
  out << ".SH EXIT STATUS\n0 on success, 1 on failure, 2 on a wrong command line, 128 plus the signal number if a "
         "signal "
         "ended it.\n";
  return out.str();
}

}  // namespace heed::cli
