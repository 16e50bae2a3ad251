#include "apps/cli/module.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

#include <CLI/Error.hpp>

#include "heed/base/check.h"
#include "heed/base/path.h"
#include "heed/base/thread_count.h"
#include "heed/version.h"

namespace heed::cli {
namespace {

/// Path of the module. In the build folder it is next to the program; installed, it is HEED_MODULE, relative to the
/// program, "../lib/heed/libheed_commands.so", or absolute.
std::string module_path() {
  const std::string program = without_links("/proc/self/exe");
  const std::string folder = program.substr(0, program.rfind('/') + 1);
  const std::string installed = HEED_MODULE;
  const std::string built = folder + installed.substr(installed.rfind('/') + 1);
  if (::access(built.c_str(), F_OK) == 0) return built;
  return installed.front() == '/' ? installed : folder + installed;
}

bool should_sleep_soon(Waiting waiting, int threads) {
  if (threads == 1 || std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return false;
  if (waiting != Waiting::by_load) return waiting == Waiting::sleep;
  double load = 0;
  return ::getloadavg(&load, 1) == 1 && load > 0.5 * threads_from_affinity();
}

/// RTLD_GLOBAL, so that libheed finds the BLAS that torch loads (heed/torch_support/threads.cpp).
ModuleEntry load_module(const char* command) {
  const std::string path = module_path();
  void* module = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  if (module == nullptr) {
    const char* reason = ::dlerror();
    fail(command, ": got no module ", path, " (", reason != nullptr ? reason : "unknown error",
         "), expected the one that was built with this program; install heed again, or build its target heed_cli");
  }
  auto* entry = ::dlsym(module, kModuleEntry);
  check(entry != nullptr, command, ": got a module ", path, " without ", kModuleEntry,
        ", expected the one that was built with this program; install heed again, or build its target heed_cli");
  return reinterpret_cast<ModuleEntry>(entry);
}

}  // namespace

int& threads_option() {
  static int threads = 0;
  return threads;
}

void run_in_module(ModuleCall call, Waiting waiting) {
  call.version = kVersion.data();
  call.requested = threads_option();
  call.threads = call.requested > 0 ? call.requested : default_threads();
  if (should_sleep_soon(waiting, call.threads))
    ::setenv("GOMP_SPINCOUNT", "10000", 1);  // less than a millisecond, more than the gaps inside a training step.
                                             // libgomp reads it when it is loaded, with the module
  const int code = load_module(call.command)(call);
  if (code != 0) throw CLI::RuntimeError(code);
}

}  // namespace heed::cli
