// The options of heed translate.

#include "apps/cli/translate_options.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/examples.h"
#include "apps/cli/module.h"

namespace heed::cli {
namespace {

void add_translate(CLI::App& app) {
  auto* command = app.add_subcommand("translate", "Translate the lines of standard input");
  auto a = std::make_shared<TranslateArguments>();
  add_examples(
      *command, {"echo 'I love China' | {} translate runs/demo/additive"},
      "Words that are not in the vocabulary are read as <unk>, and reported. Words of a script without spaces, "
      "such\nas Chinese, are segmented by longest match with the vocabulary, except with --align.");
  command->add_option("run", a->run, "A run: a folder that training wrote")->required();
  command->add_option("--beam", a->beam, "Hypotheses at once; 1 is greedy")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--length-penalty", a->length_penalty,
                   "alpha in log p / ((5 + length) / 6)^alpha; 0 prefers short ones")
      ->check(finite_number(0, 10))
      ->capture_default_str();
  command->add_option("--align", a->align, "Write links beside, one Pharaoh line for each translation, to this file");
  command->add_option("--lines", a->lines, "Translated together at most")
      ->check(whole_number(1, 1 << 20))
      ->capture_default_str();
  command->add_flag("--scores", a->scores, "The log-probability before each translation");
  add_max_length_option(*command, a->max_length);
  add_device_option(*command, a->device);
  command->callback([a] { run_in_module("translate", *a); });
}

const Command translate_command{30, add_translate};

}  // namespace
}  // namespace heed::cli
