// The program heed: parses the command line and calls.

#include <algorithm>
#include <iostream>
#include <unistd.h>

#include "apps/cli/demo.h"
#include "apps/cli/info.h"
#include "apps/cli/list.h"
#include <CLI/CLI.hpp>

#include "heed/base/check.h"
#include "heed/base/nearest.h"
#include "heed/base/version.h"
#include "heed/bridge/threads.h"
#include "heed/structures/preset.h"

namespace {

constexpr int kFailed = 1, kMisused = 2;

struct Given {
  int threads = 0;
  bool json = false, markdown = false, presets = false;
  std::string part, colours = "auto";
  heed::cli::DemoOptions demo;
};

void add_demo(CLI::App& app, Given& given) {
  auto* demo = app.add_subcommand("demo", "Let a mechanism learn to translate words, and show what it attends to");
  demo->add_option("--mechanism", given.demo.mechanism, "Such as 'general + entmax(1.5)'; heed list shows the words")
      ->capture_default_str();
  demo->add_option("--steps", given.demo.steps, "Of learning")->capture_default_str();
  demo->add_option("--seed", given.demo.seed, "The same seed gives the same output")->capture_default_str();
  demo->add_option("--color", given.colours, "When to colour the weights")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  demo->callback([&given] {
    given.demo.colours = heed::cli::colours(given.colours, isatty(STDOUT_FILENO) == 1);
    run_demo(std::cout, given.demo);
  });
}

void add_info(CLI::App& app, Given& given) {
  auto* info = app.add_subcommand("info", "Version, libraries, threads, processor and devices");
  info->add_flag("--json", given.json, "For machines");
  info->callback([&given] { heed::cli::print_info(std::cout, given.json); });
}

void add_list(CLI::App& app, Given& given) {
  auto* list =
      app.add_subcommand("list", "Every score, alignment, dimensionality, structure and preset, and when to choose it");
  list->add_option("part", given.part, "Only this one: additive, entmax, rotatory, ...");
  auto* json = list->add_flag("--json", given.json, "For machines");
  list->add_flag("--markdown", given.markdown, "The page docs/catalogue.md")->excludes(json);
  list->add_flag("--presets", given.presets, "What papers chose on each axis of the taxonomy");
  list->callback([&given] {
    using heed::cli::ListForm;
    const auto form = given.json ? ListForm::json : given.markdown ? ListForm::markdown : ListForm::words;
    const auto presets = heed::preset_names();
    if (given.presets || std::find(presets.begin(), presets.end(), given.part) != presets.end())
      return heed::cli::print_presets(std::cout, given.part, form);
    print_list(std::cout, given.part.empty() ? heed::cli::cards() : heed::cli::cards(given.part), form);
  });
}

/// The first word that is no option and no command, with the command it probably meant.
std::string wrong_command(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const auto* command : app.get_subcommands({})) known.push_back(command->get_name());
  for (const auto& word : words)
    if (!word.empty() && word[0] != '-')
      return "no command called '" + word + "'" + heed::suggestion(word, known) + "; known: " + heed::joined(known);
  return "";
}

int parse_and_call(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) {
      std::cerr << app.help();
      return kMisused;
    }
  } catch (const CLI::Success& asked) {  // --help, --version
    app.exit(asked);
  } catch (const CLI::ParseError& error) {
    const auto wrong = app.get_subcommands().empty() ? wrong_command(app, app.remaining()) : "";
    std::cerr << "heed: " << (wrong.empty() ? error.what() : wrong)
              << "\nheed --help and heed <command> --help say more\n";
    return kMisused;
  }
  std::cout.flush();
  heed::check(std::cout.good(), "could not write all of the output");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Given given;
    CLI::App app("Heed: attention mechanisms, composed, trained and looked at", "heed");
    app.set_version_flag("--version", "heed " + std::string(heed::kVersion) + " (" + std::string(heed::commit()) + ")");
    app.add_option("--threads", given.threads, "Threads to use; 0: as many as the processors this program may use")
        ->check(CLI::NonNegativeNumber);
    app.parse_complete_callback(
        [&given] { heed::use_threads(given.threads > 0 ? given.threads : heed::threads_from_affinity()); });
    add_demo(app, given);
    add_info(app, given);
    add_list(app, given);
    return parse_and_call(app, argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "heed: " << error.what() << '\n';
    return kFailed;
  }
}
