#include "apps/cli/command.h"

#include <algorithm>

#include "apps/cli/program_name.h"

#include "heed/base/excerpt.h"
#include "heed/base/scalar.h"

namespace heed::cli {
namespace {

struct Entry {
  int order;
  Command::Add add;
};

std::vector<Entry>& table() {
  static std::vector<Entry> all;  // local static: filled before main, in any order of the files
  return all;
}

}  // namespace

Command::Command(int order, Add add) {
  table().push_back({order, add});
}

void Command::add_all(CLI::App& app) {
  auto all = table();
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.order < b.order; });
  for (const auto& entry : all) entry.add(app);
}

CLI::Validator whole_number(int64_t min, int64_t max) {
  const std::string expected = "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
  return {[=](const std::string& text) -> std::string {
            int64_t value = 0;
            const bool fine = read_integer(text, value) && value >= min && value <= max;
            return fine ? "" : "got '" + excerpt(text) + "', expected " + expected;
          },
          "INT in [" + std::to_string(min) + " - " + std::to_string(max) + "]", "whole number"};
}

CLI::Validator finite_number(double min, double max) {
  const std::string range = written_number(min) + " to " + written_number(max);
  return {[=](const std::string& text) -> std::string {
            double value = 0;
            const bool fine = read_number(text, value) && value >= min && value <= max;
            return fine ? "" : "got '" + excerpt(text) + "', expected a number from " + range;
          },
          "NUMBER from " + range, "finite number"};
}

void add_examples(CLI::App& subcommand, const std::vector<std::string>& commands, const std::string& note) {
  std::string text = note + (note.empty() ? "" : "\n") + "After " + pasteable("{} demo") + ":";
  for (const auto& command : commands) text += "\n  " + pasteable(command);
  subcommand.footer(text);
}

void add_color_option(CLI::App& command, std::string& when) {
  command.add_option("--color", when, "Color the weights")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
}

void add_device_option(CLI::App& command, std::string& device) {
  command.add_option("--device", device, "auto (a GPU if there is one), cpu, cuda or cuda:1")->capture_default_str();
}

void add_max_length_option(CLI::App& command, int64_t& max) {
  command.add_option("--max-length", max, "Maximum tokens per sentence; a longer one is an error")
      ->check(whole_number(1, 1 << 20))
      ->capture_default_str();
}

}  // namespace heed::cli
