// The options of heed attend.

#include "apps/cli/attend_options.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/module.h"

namespace heed::cli {
namespace {

void add_attend(CLI::App& app) {
  auto* command =
      app.add_subcommand("attend", "Show what a translator looks at: heed attend runs/demo --source 'Tom sleeps'");
  auto a = std::make_shared<AttendArguments>();
  command->add_option("run", a->run, "A folder that heed train made")->required();
  command->add_option("--source", a->source, "A sentence; may be given more than once")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--target", a->target, "Its translation; without one the translator's own")
      ->allow_extra_args(false);
  command->add_option("--png", a->png, "Write a picture to this file");
  command->add_option("--html", a->html, "Write a page to this file; it opens offline");
  command->add_option("--beam", a->beam, "Hypotheses at once")->check(whole_number(1, 1000))->capture_default_str();
  command->add_flag("--json", a->json, "Words and weights for machines");
  add_max_length_option(*command, a->max_length);
  add_color_option(*command, a->colors);
  add_device_option(*command, a->device);
  command->callback([a] { run_in_module("attend", *a); });
}

const Command attend_command{50, add_attend};

}  // namespace
}  // namespace heed::cli
