#include "apps/cli/torch/body.h"

#include <iostream>
#include <map>
#include <string>
#include <utility>

#include "apps/cli/module.h"
#include <c10/util/Exception.h>

#include "heed/base/check.h"
#include "heed/torch_support/freed_memory.h"
#include "heed/torch_support/threads.h"
#include "heed/version.h"

namespace heed::cli {
namespace {

struct Entered {
  std::string type;
  size_t size = 0;
  std::function<int(const void*)> run;
};

std::map<std::string, Entered>& bodies() {
  static std::map<std::string, Entered>
      all;  // local static: filled while the module is loaded, in any order of the files
  return all;
}

void use_threads_for(const ModuleCall& call) {
  const int used = use_threads(call.threads);
  if (used < call.requested)
    std::cerr << "heed: --threads is " << call.requested << ", but OpenMP gives " << used
              << " (OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS)\n";
}

}  // namespace

Body::Body(const char* command, const char* type, size_t size, std::function<int(const void*)> run) {
  bodies()[command] = {type, size, std::move(run)};
}

}  // namespace heed::cli

extern "C" int heed_run_command(const heed::cli::ModuleCall& call) {
  using namespace heed;
  const auto found = cli::bodies().find(call.command);
  const bool same = call.version == kVersion && found != cli::bodies().end() && found->second.type == call.type &&
                    found->second.size == call.size;
  check(same, call.command, ": got a program of heed ", call.version, " and a module of another build of heed ",
        kVersion, ", expected both of one build; install heed again, or build its target heed_cli");
  keep_freed_memory();
  cli::use_threads_for(call);
  try {
    return found->second.run(call.arguments);
  } catch (const c10::Error& error) {  // what() would include a backtrace
    throw Error(error.what_without_backtrace());
  }
}
