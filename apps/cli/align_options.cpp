// Options of heed align.

#include "apps/cli/align_options.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/module.h"

#include "heed/base/check.h"
#include "heed/base/links.h"

namespace heed::cli {
namespace {

void add_align(CLI::App& app) {
  auto* command =
      app.add_subcommand("align", "Align the words of two texts with the attention of a translator (Pharaoh links)");
  auto a = std::make_shared<AlignArguments>();
  add_examples(*command,
               {"echo 'I love China' > source.txt; echo '我 爱 中国' > target.txt",
                "{} align runs/demo/additive source.txt target.txt"},
               "Prints one line of source-target links for each pair of lines: 0-0 1-2. Words are separated by spaces "
               "and\ncounted from 0. Segment text of a script without spaces, such as Chinese, into words first.");
  command->add_option("run", a->run, "Run folder, written by heed train or heed demo")->required();
  command->add_option("source", a->source, "Source text, one sentence per line")->required();
  command->add_option("target", a->target, "Translation of each source line")->required();
  command->add_option("--reverse", a->reverse, "Run folder of the reverse direction; symmetrizes the links");
  command->add_option("--symmetry", a->symmetry, "Symmetrization with --reverse: product, " + joined(symmetry_names()))
      ->needs("--reverse")
      ->capture_default_str();
  command->add_option("--threshold", a->threshold, "Drop links with at most this weight; not with --symmetry product")
      ->check(finite_number(0, 1))
      ->capture_default_str();
  add_max_length_option(*command, a->max_length);
  add_device_option(*command, a->device);
  command->callback([a] { run_in_module("align", *a); });
}

const Command align_command{40, add_align};

}  // namespace
}  // namespace heed::cli
