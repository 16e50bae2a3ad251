// The options of heed align.

#include "apps/cli/align_options.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/examples.h"
#include "apps/cli/module.h"

#include "heed/base/check.h"
#include "heed/base/links.h"

namespace heed::cli {
namespace {

void add_align(CLI::App& app) {
  auto* command = app.add_subcommand("align", "Link the words of two texts, line by line");
  auto a = std::make_shared<AlignArguments>();
  add_examples(*command,
               {"echo 'I love China' > source.txt; echo '我 爱 中国' > target.txt",
                "{} align runs/demo/additive source.txt target.txt"},
               "Words are what is between spaces, counted from 0. Text of a script without spaces, such as Chinese, is "
               "expected\nwith spaces between words.");
  command->add_option("run", a->run, "A run: a folder that training wrote")->required();
  command->add_option("source", a->source, "One sentence a line")->required();
  command->add_option("target", a->target, "Its translation, line by line")->required();
  command->add_option("--reverse", a->reverse, "A run that translates the other way, to symmetrize with");
  command->add_option("--symmetry", a->symmetry, "With --reverse: product, " + joined(symmetry_names()))
      ->needs("--reverse")
      ->capture_default_str();
  command->add_option("--threshold", a->threshold, "No link where the weight is not above this; not with product")
      ->check(finite_number(0, 1))
      ->capture_default_str();
  add_max_length_option(*command, a->max_length);
  add_device_option(*command, a->device);
  command->callback([a] { run_in_module("align", *a); });
}

const Command align_command{40, add_align};

}  // namespace
}  // namespace heed::cli
