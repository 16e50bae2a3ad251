// Commands that need torch run in a module, libheed_commands.so, which is loaded when one of them is called. So the
// program starts without torch: --help, --version, errors of the command line, `heed list` and `heed eval` of files
// never load it.
//
// A command that needs torch is three files: <command>_options.h, the struct that its options fill;
// <command>_options.cpp, the options, in the program; torch/<command>.cpp, what it does, in the module (torch/body.h).

#pragma once

#include <cstddef>
#include <string>
#include <typeinfo>

namespace heed::cli {

/// What OpenMP's threads do while they wait for each other. They spin for many milliseconds before they sleep, and so
/// keep the processor from those they wait for: on a busy machine everything takes several times as long. Results do
/// not depend on it.
enum class Waiting {
  by_load,  // sleep soon where the machine is busy
  sleep,    // sleep soon
  spin,     // as OpenMP does by itself
};

/// Of --threads; 0: default_threads().
int& threads_option();

/// What the program hands to the module. Both are built from the same headers; version, type and size tell if not.
struct ModuleCall {
  const char* version;  // kVersion of the program
  const char* command;  // "train"
  const char* type;     // of the struct that arguments points to
  size_t size;          // of it
  const void* arguments;
  int threads;    // to use
  int requested;  // by --threads, or 0
};

/// The one function of the module. Gives the exit code; throws what the program reports.
inline constexpr const char* kModuleEntry = "heed_run_command";
using ModuleEntry = int (*)(const ModuleCall& call);

/// Loads the module, calls the command there, and throws CLI::RuntimeError where its exit code is not 0.
void run_in_module(ModuleCall call, Waiting waiting);

template <typename Arguments>
void run_in_module(const char* command, const Arguments& arguments, Waiting waiting = Waiting::by_load) {
  run_in_module({nullptr, command, typeid(Arguments).name(), sizeof(Arguments), &arguments, 0, 0}, waiting);
}

}  // namespace heed::cli
