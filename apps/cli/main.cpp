// The program heed: parses the command line and calls.

#include <array>
#include <cstdlib>
#include <iostream>
#include <new>
#include <unistd.h>

#include "apps/cli/command.h"
#include <c10/util/Exception.h>
#include <climits>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/version.h"
#include "heed/bridge/freed_memory.h"
#include "heed/bridge/threads.h"

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

/// Whether threads should sleep soon while they wait: they share the machine, or the start does not matter.
bool should_sleep_soon(const CLI::App& app, int threads) {
  if (threads == 1 || std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return false;
  if (app.got_subcommand("train")) return true;
  for (const char* quick : {"demo", "list", "info"})  // no threads, or one
    if (app.got_subcommand(quick)) return false;
  double load = 0;
  return ::getloadavg(&load, 1) == 1 && load > 0.5 * heed::threads_from_affinity();
}

/// OpenMP's threads spin for many milliseconds before they sleep, and so keep the processor from those they wait for:
/// on a busy machine everything takes several times as long. libgomp reads how long to spin when it is loaded, so the
/// program starts itself again, as the same process. Results do not depend on it.
void sleep_soon_while_waiting(char** argv) {
  const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  std::array<char, PATH_MAX> self{};
  if (::readlink("/proc/self/exe", self.data(), self.size() - 1) < 0 || name(self.data()) != name(argv[0]))
    return;                                // started by a loader or under another name: it would start something else
  ::setenv("GOMP_SPINCOUNT", "10000", 1);  // below a millisecond: longer than the gaps inside a training step
  ::execv("/proc/self/exe", argv);         // where that fails, all goes on as it is
}

void use_threads(int asked) {
  const int used = heed::use_threads(asked > 0 ? asked : heed::default_threads());
  if (used < asked)
    std::cerr << "heed: --threads is " << asked << ", but OpenMP gives " << used
              << " (OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS)\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    heed::keep_freed_memory();
    int threads = 0;
    CLI::App app("Heed: attention mechanisms, composed, trained and looked at", "heed");
    app.set_version_flag("--version", "heed " + std::string(heed::kVersion) + " (" + std::string(heed::commit()) + ")");
    app.add_option("--threads", threads,
                   "Threads to use; 0: OMP_NUM_THREADS, or as many as the processors this program may use")
        ->check(heed::cli::whole_number(0, heed::kMaxThreads));
    app.parse_complete_callback([&] {
      if (should_sleep_soon(app, threads > 0 ? threads : heed::default_threads())) sleep_soon_while_waiting(argv);
      use_threads(threads);
    });
    heed::cli::Command::add_all(app);
    return parse_and_call(app, argc, argv);
  } catch (const c10::Error& error) {  // what() has torch's own stack in it
    std::cerr << "heed: " << heed::printable_message(error.what_without_backtrace()) << '\n';
    return kFailed;
  } catch (const std::bad_alloc&) {
    std::cerr << "heed: there is not enough memory; expected smaller batches, a smaller model or shorter text\n";
    return kFailed;
  } catch (const std::exception& error) {
    std::cerr << "heed: " << heed::printable_message(error.what()) << '\n';
    return kFailed;
  }
}
