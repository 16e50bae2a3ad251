// Commands that need torch run in a module, libheed_commands.so, which is loaded when one of them is called. So --help,
// --version, command-line errors, `heed list` and `heed eval` of files start without loading torch.
//
// A command that needs torch has three files: <command>_options.h, the struct of its option values;
// <command>_options.cpp, its options, in the program; torch/<command>.cpp, its body, in the module (torch/body.h).

#pragma once

#include <cstddef>
#include <string>
#include <typeinfo>

namespace heed::cli {

/// How OpenMP threads wait for each other. By default they spin for many milliseconds before they sleep, which takes
/// processor time from the threads they wait for: on a busy machine everything takes several times as long. Results do
/// not depend on it.
enum class Waiting {
  by_load,  // sleep soon if the load average is high
  sleep,    // sleep soon
  spin,     // the default of OpenMP
};

/// The value of --threads; 0: default_threads().
int& threads_option();

/// Arguments of the call from the program into the module. Both must be built from the same headers, which version,
/// type and size verify.
struct ModuleCall {
  const char* version;  // kVersion of the program
  const char* command;  // "train"
  const char* type;     // name of the type that arguments points to
  size_t size;          // sizeof that type
  const void* arguments;
  int threads;    // number of threads to use
  int requested;  // value of --threads, or 0
};

/// The entry point of the module. Returns the exit code; throws errors for the program to report.
inline constexpr const char* kModuleEntry = "heed_run_command";
using ModuleEntry = int (*)(const ModuleCall& call);

/// Loads the module and calls the command in it. Throws CLI::RuntimeError if its exit code is not 0.
void run_in_module(ModuleCall call, Waiting waiting);

template <typename Arguments>
void run_in_module(const char* command, const Arguments& arguments, Waiting waiting = Waiting::by_load) {
  run_in_module({nullptr, command, typeid(Arguments).name(), sizeof(Arguments), &arguments, 0, 0}, waiting);
}

}  // namespace heed::cli
