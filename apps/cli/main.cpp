// The program heed: parses the command line and runs a command. It links no torch (apps/cli/module.h).

#include <iostream>
#include <new>

#include "apps/cli/command.h"
#include "apps/cli/module.h"
#include "apps/cli/option_text.h"
#include "apps/cli/program_name.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/thread_count.h"
#include "heed/base/version.h"

namespace {

constexpr int kFailed = 1, kMisused = 2;

/// The message for the first argument that is neither an option nor a command, with the nearest command.
std::string wrong_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> known;
  for (const auto* command : heed::cli::shown_commands(app)) known.push_back(command->get_name());
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
  } catch (const CLI::RuntimeError& ended) {  // an interrupted command, which has already printed a message
    return ended.get_exit_code();
  } catch (const CLI::ParseError& error) {
    const bool unknown_word = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    const auto wrong =
        unknown_word && app.get_subcommands().empty() ? wrong_command(app, app.remaining()) : std::string();
    std::cerr << "heed: " << heed::printable_message(wrong.empty() ? error.what() : wrong) << "\n"
              << heed::cli::program_name() << " --help says more\n";
    return kMisused;
  }
  std::cout.flush();
  heed::check(std::cout.good(), "could not write all of the output");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CLI::App app("Heed: compose, train and inspect attention mechanisms", "heed");
    app.set_version_flag("--version", "heed " + std::string(heed::kVersion) + " (" + std::string(heed::commit()) + ")");
    app.add_option("--threads", heed::cli::threads_option(),
                   "Number of threads; default 0: OMP_NUM_THREADS, or the processors available to this process")
        ->check(heed::cli::whole_number(0, heed::kMaxThreads));
    heed::cli::Command::add_all(app);
    return parse_and_call(app, argc, argv);
  } catch (const std::bad_alloc&) {
    std::cerr << "heed: out of memory; use smaller batches, a smaller model or shorter text\n";
    return kFailed;
  } catch (const std::exception& error) {
    std::cerr << "heed: " << heed::printable_message(error.what()) << '\n';
    return kFailed;
  }
}
