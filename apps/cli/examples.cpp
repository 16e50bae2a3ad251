#include "apps/cli/examples.h"

#include "apps/cli/program_name.h"

namespace heed::cli {

std::string pasteable(const std::string& command) {
  std::string text = command;
  const size_t at = text.find("{}");
  return at == std::string::npos ? text : text.replace(at, 2, program_name());
}

void add_examples(CLI::App& subcommand, const std::vector<std::string>& commands, const std::string& note) {
  std::string text = note + (note.empty() ? "" : "\n") + "After " + pasteable("{} demo") + ":";
  for (const auto& command : commands) text += "\n  " + pasteable(command);
  subcommand.footer(text);
}

}  // namespace heed::cli
