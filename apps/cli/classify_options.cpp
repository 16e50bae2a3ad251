// Options of heed classify.

#include "apps/cli/classify_options.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/module.h"

namespace heed::cli {
namespace {

void add_classify(CLI::App& app) {
  auto* command = app.add_subcommand("classify", "Label the texts of standard input, line by line");
  auto a = std::make_shared<ClassifyArguments>();
  command->footer(
      "A line is a text. If the run has several texts for an example, they are separated by tabs, in the order of its\n"
      "data.text; in a run with data.sentences: tab, tabs separate sentences. The output has the label, a tab and its\n"
      "probability; with --attend another tab and each word with its weight.");
  command->add_option("run", a->run, "Run folder, written by heed train")->required();
  command->add_flag("--attend", a->attend, "Add the attention weight of each word");
  command->add_flag("--json", a->json, "Print one JSON object for each line: label, probabilities, weights");
  command->add_option("--lines", a->lines, "Maximum number of lines per batch; 0: 64 on a CPU, 1024 on a GPU")
      ->check(whole_number(0, 1 << 20))
      ->capture_default_str();
  add_device_option(*command, a->device);
  command->callback([a] { run_in_module("classify", *a); });
}

const Command classify_command{32, add_classify};

}  // namespace
}  // namespace heed::cli
