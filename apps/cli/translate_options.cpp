// Options of heed translate.

#include "apps/cli/translate_options.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/module.h"

namespace heed::cli {
namespace {

void add_translate(CLI::App& app) {
  auto* command = app.add_subcommand("translate", "Translate standard input, line by line");
  auto a = std::make_shared<TranslateArguments>();
  add_examples(
      *command, {"echo 'I love China' | {} translate runs/demo/additive"},
      "Out-of-vocabulary words are read as <unk> and reported. Words of a script without spaces, such as Chinese, "
      "are\nsegmented by longest match with the vocabulary, except with --align.");
  command->add_option("run", a->run, "Run folder, written by heed train or heed demo")->required();
  command->add_option("--beam", a->beam, "Beam size; 1 is greedy search")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--length-penalty", a->length_penalty,
                   "alpha of the score log p / ((5 + length) / 6)^alpha; 0 favors short translations")
      ->check(finite_number(0, 10))
      ->capture_default_str();
  command
      ->add_option("--length-normalization", a->length_normalization,
                   "gnmt: log p / ((5 + length) / 6)^alpha; length: log p / length^alpha")
      ->check(CLI::IsMember({"gnmt", "length"}))
      ->capture_default_str();
  command->add_option("--align", a->align, "Write word links to this file, one Pharaoh line per translation");
  command->add_option("--lines", a->lines, "Maximum number of lines per batch; 0: 64 on a CPU, 1024 on a GPU")
      ->check(whole_number(0, 1 << 20))
      ->capture_default_str();
  command->add_flag("--scores", a->scores, "Print the log-probability and a tab before each translation");
  add_max_length_option(*command, a->max_length);
  add_device_option(*command, a->device);
  command->callback([a] { run_in_module("translate", *a); });
}

const Command translate_command{30, add_translate};

}  // namespace
}  // namespace heed::cli
