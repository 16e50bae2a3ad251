// The program heed: parses the command line and calls. It links no torch (apps/cli/module.h).

#include <iostream>
#include <new>

#include "apps/cli/command.h"
#include "apps/cli/module.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/thread_count.h"
#include "heed/base/version.h"

namespace {

constexpr int kFailed = 1, kMisused = 2;

/// The first word that is no option and no command, with the command it probably meant.
std::string wrong_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> known;
  for (const auto* command : app.get_subcommands({})) known.push_back(command->get_name());
  for (const auto& word : arguments)
    if (!word.empty() && word[0] != '-')
      return "no command called '" + heed::excerpt(word) + "'" + heed::suggestion(word, known) +
             "; known: " + heed::joined(known);
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
    const bool unknown_word = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    const auto wrong =
        unknown_word && app.get_subcommands().empty() ? wrong_command(app, app.remaining()) : std::string();
    std::cerr << "heed: " << heed::printable_message(wrong.empty() ? error.what() : wrong)
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
    CLI::App app("Heed: attention mechanisms, composed, trained and looked at", "heed");
    app.set_version_flag("--version", "heed " + std::string(heed::kVersion) + " (" + std::string(heed::commit()) + ")");
    app.add_option("--threads", heed::cli::threads_option(),
                   "Threads to use; 0: OMP_NUM_THREADS, or as many as the processors this program may use")
        ->check(heed::cli::whole_number(0, heed::kMaxThreads));
    heed::cli::Command::add_all(app);
    return parse_and_call(app, argc, argv);
  } catch (const std::bad_alloc&) {
    std::cerr << "heed: there is not enough memory; expected smaller batches, a smaller model or shorter text\n";
    return kFailed;
  } catch (const std::exception& error) {
    std::cerr << "heed: " << heed::printable_message(error.what()) << '\n';
    return kFailed;
  }
}
