#include "apps/cli/option_text.h"

#include <algorithm>
#include <sstream>

namespace heed::cli {
namespace {

/// "TEXT:{auto,always,never}" -> auto, always, never.
std::vector<std::string> choices_of(const std::string& type) {
  const auto open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  std::vector<std::string> all;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string one; std::getline(list, one, ',');) all.push_back(one);
  return all;
}

std::string description_of(const CLI::Option& option, const std::string& range) {
  std::string text = option.get_description();
  if (!range.empty()) text += " (" + range + ")";
  if (!option.get_default_str().empty()) text += " [default: " + option.get_default_str() + "]";
  return text;
}

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  const std::string type = option.get_type_name();  // "INT:INT in [0 - 256]": type and valid range
  const auto colon = type.find(':');
  text.positional = option.get_positional();
  if (text.positional) text.names.push_back(option.get_name(true));
  for (const auto& name : option.get_snames()) text.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) text.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) text.value = type.substr(0, colon);
  text.description = description_of(option, colon == std::string::npos ? "" : type.substr(colon + 1));
  text.choices = choices_of(type);
  text.required = option.get_required();
  text.repeats = option.get_items_expected_max() > 1;
  return text;
}

}  // namespace

std::vector<OptionText> option_texts(const CLI::App& command) {
  std::vector<OptionText> all;
  for (const auto* option : command.get_options({}))
    if (!option->get_group().empty()) all.push_back(text_of(*option));
  std::stable_partition(all.begin(), all.end(), [](const OptionText& text) { return text.positional; });
  return all;
}

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  std::vector<const CLI::App*> all;
  for (const auto* command : app.get_subcommands({}))
    if (!command->get_group().empty()) all.push_back(command);
  return all;
}

}  // namespace heed::cli
