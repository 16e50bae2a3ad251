#include "apps/cli/command.h"

#include <algorithm>

namespace heed::cli {
namespace {

struct Placed {
  int place;
  Command::Add add;
};

std::vector<Placed>& table() {
  static std::vector<Placed> all;  // inside a function: filled before main, whatever the order of the files
  return all;
}

}  // namespace

Command::Command(int place, Add add) {
  table().push_back({place, add});
}

void Command::add_all(CLI::App& app) {
  auto all = table();
  std::sort(all.begin(), all.end(), [](const Placed& a, const Placed& b) { return a.place < b.place; });
  for (const auto& placed : all) placed.add(app);
}

void add_colour_option(CLI::App& command, std::string& when) {
  command.add_option("--color", when, "When to colour the weights")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
}

void add_device_option(CLI::App& command, std::string& device) {
  command.add_option("--device", device, "auto, cpu, cuda or cuda:1")->capture_default_str();
}

}  // namespace heed::cli
