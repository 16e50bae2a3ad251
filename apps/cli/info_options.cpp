// Options of heed info.

#include "apps/cli/info_options.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/module.h"

namespace heed::cli {
namespace {

void add_info(CLI::App& app) {
  auto* info = app.add_subcommand("info", "Show version, libraries, threads, CPU and GPUs");
  auto a = std::make_shared<InfoArguments>();
  info->add_flag("--json", a->json, "Print JSON");
  info->callback([a] { run_in_module("info", *a, Waiting::spin); });
}

const Command info_command{85, add_info};

}  // namespace
}  // namespace heed::cli
