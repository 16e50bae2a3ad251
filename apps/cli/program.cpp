#include "apps/cli/program.h"

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
#include "heed/version.h"

namespace heed::cli {
namespace {

constexpr int kFailed = 1, kMisused = 2;

/// The message for the first argument that is neither an option nor a command, with the nearest command.
std::string wrong_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> known;
  for (const auto* command : shown_commands(app)) known.push_back(command->get_name());
  for (const auto& word : arguments)
    if (!word.empty() && word[0] != '-')
      return "no command called '" + excerpt(word) + "'" + suggestion(word, known) + "; known: " + joined(known);
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
    std::cerr << "heed: " << printable_message(wrong.empty() ? error.what() : wrong) << "\n"
              << program_name() << " --help says more\n";
    return kMisused;
  }
  std::cout.flush();
  check(std::cout.good(), "could not write all of the output");
  return 0;
}

}  // namespace

int run_program(int argc, char** argv) {
  try {
    CLI::App app("Heed: compose, train and inspect attention mechanisms", "heed");
    app.set_version_flag("--version", "heed " + std::string(kVersion) + " (" + std::string(commit()) + ")");
    app.add_option("--threads", threads_option(),
                   "Number of threads; default 0: OMP_NUM_THREADS, or the processors available to this process")
        ->check(whole_number(0, kMaxThreads));
    Command::add_all(app);
    return parse_and_call(app, argc, argv);
  } catch (const std::bad_alloc&) {
    std::cerr << "heed: out of memory; use smaller batches, a smaller model or shorter text\n";
    return kFailed;
  } catch (const std::exception& error) {
    std::cerr << "heed: " << printable_message(error.what()) << '\n';
    return kFailed;
  }
}

}  // namespace heed::cli
