// The program heed: parses the command line and calls.

#include <iostream>

#include "apps/cli/command.h"

#include "heed/base/check.h"
#include "heed/base/nearest.h"
#include "heed/base/version.h"
#include "heed/bridge/freed_memory.h"
#include "heed/bridge/threads.h"

namespace {

constexpr int kFailed = 1, kMisused = 2;

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
  } catch (const CLI::RuntimeError& ended) {  // a command that was interrupted, and has said so
    return ended.get_exit_code();
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
    heed::keep_freed_memory();
    int threads = 0;
    CLI::App app("Heed: attention mechanisms, composed, trained and looked at", "heed");
    app.set_version_flag("--version", "heed " + std::string(heed::kVersion) + " (" + std::string(heed::commit()) + ")");
    app.add_option("--threads", threads, "Threads to use; 0: as many as the processors this program may use")
        ->check(CLI::NonNegativeNumber);
    app.parse_complete_callback(
        [&threads] { heed::use_threads(threads > 0 ? threads : heed::threads_from_affinity()); });
    heed::cli::Command::add_all(app);
    return parse_and_call(app, argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "heed: " << error.what() << '\n';
    return kFailed;
  }
}
