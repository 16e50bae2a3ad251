#include "apps/cli/completion.h"

#include <iostream>
#include <memory>
#include <sstream>

#include "apps/cli/command.h"
#include "apps/cli/option_text.h"

#include "heed/base/check.h"

namespace heed::cli {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// The text in single quotes, escaped for a shell.
std::string shell_quoted(const std::string& text) {
  return "'" + replaced(text, "'", "'\\''") + "'";
}

/// Names of the options that start with '-', with a space before each.
std::string option_names(const CLI::App& command) {
  std::string all;
  for (const auto& option : option_texts(command))
    if (!option.positional)
      for (const auto& name : option.names) all += " " + name;
  return all;
}

/// A branch of `case "$command $previous"` for each option or positional with a fixed set of values.
void print_bash_choices(std::ostream& out, const CLI::App& command) {
  for (const auto& option : option_texts(command))
    if (!option.choices.empty()) {
      const std::string previous = option.positional ? command.get_name() : option.names.back();
      out << "    " << shell_quoted(command.get_name() + " " + previous)
          << ") values=" << shell_quoted(joined(option.choices, " ")) << " ;;\n";
    }
}

std::string zsh_option(const OptionText& option, const std::string& name) {
  std::string text = replaced(replaced(replaced(option.description, "\n", " "), "[", "("), "]", ")");
  text = (option.repeats ? "*" : "") + name + "[" + replaced(text, ":", "\\:") + "]";
  if (option.value.empty()) return shell_quoted(text);
  const std::string values = option.choices.empty() ? "_files" : "(" + joined(option.choices, " ") + ")";
  return shell_quoted(text + ":" + option.value + ":" + values);
}

void print_zsh_arguments(std::ostream& out, const CLI::App& command) {
  for (const auto& option : option_texts(command))
    if (!option.positional)
      for (const auto& name : option.names) out << " \\\n        " << zsh_option(option, name);
}

void print_fish_options(std::ostream& out, const CLI::App& command, const std::string& condition) {
  for (const auto& option : option_texts(command)) {
    if (option.positional) continue;
    out << "complete -c heed -n " << shell_quoted(condition);
    for (const auto& name : option.names)
      out << (name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1));
    if (!option.value.empty()) out << " -r";
    if (!option.choices.empty()) out << " -f -a " << shell_quoted(joined(option.choices, " "));
    out << " -d " << shell_quoted(replaced(option.description, "\\", "\\\\")) << '\n';
  }
}

void print_completion(const CLI::App& app, const std::string& shell) {
  std::cout << (shell == "bash" ? bash_completion(app) : shell == "zsh" ? zsh_completion(app) : fish_completion(app));
}

void add_completion(CLI::App& app) {
  auto* command =
      app.add_subcommand("completion", "Print a completion script for a shell: source <(heed completion bash)");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "Shell to complete for")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, shell] { print_completion(app, *shell); });
}

const Command completion_command{90, add_completion};

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::ostringstream out;
  std::string names;
  for (const auto* command : shown_commands(app)) names += " " + command->get_name();
  out << "# Completion of heed for bash; written by `heed completion bash`.\n"
         "_heed() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' options='' "
         "values='' i\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case ${COMP_WORDS[i]} in "
      << replaced(names.substr(1), " ", " | ")
      << ") command=${COMP_WORDS[i]}; break ;; esac\n"
         "  done\n"
         "  case \"$command $previous\" in\n";
  for (const auto* command : shown_commands(app)) print_bash_choices(out, *command);
  out << "  esac\n"
         "  case $command in\n"
         "    '') options="
      << shell_quoted(option_names(app).substr(1) + names) << " ;;\n";
  for (const auto* command : shown_commands(app))
    out << "    " << command->get_name() << ") options=" << shell_quoted(option_names(*command).substr(1)) << " ;;\n";
  out << "  esac\n"
         "  if [[ -n $values ]]; then COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
         "  elif [[ $current == -* || -z $command ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
         "  else COMPREPLY=()  # file names\n"
         "  fi\n"
         "}\n"
         "complete -o bashdefault -o default -F _heed heed\n";
  return out.str();
}

std::string zsh_completion(const CLI::App& app) {
  std::ostringstream out;
  out << "#compdef heed\n"
         "# Completion of heed for zsh; written by `heed completion zsh`.\n"
         "_heed() {\n"
         "  local state\n"
         "  local -a commands=(\n";
  for (const auto* command : shown_commands(app))
    out << "    " << shell_quoted(command->get_name() + ":" + replaced(command->get_description(), ":", "\\:")) << '\n';
  out << "  )\n"
         "  _arguments -C";
  print_zsh_arguments(out, app);
  out << " \\\n        '1:command:->command' '*::argument:->arguments'\n"
         "  case $state in\n"
         "    command) _describe command commands ;;\n"
         "    arguments) case $words[1] in\n";
  for (const auto* command : shown_commands(app)) {
    out << "      " << command->get_name() << ") _arguments";
    print_zsh_arguments(out, *command);
    out << " \\\n        '*:file:_files' ;;\n";
  }
  out << "    esac ;;\n"
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _heed ]]; then _heed \"$@\"; else compdef _heed heed; fi\n";
  return out.str();
}

std::string fish_completion(const CLI::App& app) {
  std::ostringstream out;
  out << "# Completion of heed for fish; written by `heed completion fish`.\n";
  print_fish_options(out, app, "__fish_use_subcommand");
  for (const auto* command : shown_commands(app)) {
    out << "complete -c heed -n __fish_use_subcommand -f -a " << command->get_name() << " -d "
        << shell_quoted(command->get_description()) << '\n';
    print_fish_options(out, *command, "__fish_seen_subcommand_from " + command->get_name());
  }
  return out.str();
}

}  // namespace heed::cli
