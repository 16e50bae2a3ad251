// heed eval: how good a run is, or plain files are. Files need no torch.

#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/eval_options.h"
#include "apps/cli/module.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/metrics/bleu_tokenizer.h"

namespace heed::cli {
namespace {

void run(const EvalArguments& a) {
  if (!a.run.empty()) return run_in_module("eval", a);
  EvalFilesOptions files = a.files;
  files.json = a.json;
  eval_files(std::cout, files);
}

/// A run is evaluated with all metrics on its own texts, so options of files have no meaning there.
void refuse_file_options(const std::string& run, const std::vector<CLI::Option*>& of_files) {
  for (const auto* option : of_files)
    if (option->count() > 0)
      throw CLI::ValidationError("eval", "got the run '" + excerpt(run) + "' and " + option->get_name() +
                                             ", expected one of them; heed eval RUN reports every metric, and files " +
                                             "are given by options alone: --hypothesis out.txt --reference ref.txt");
}

void add_eval(CLI::App& app) {
  auto* command =
      app.add_subcommand("eval", "Judge a run, or plain files: heed eval --hypothesis out.txt --reference ref.txt");
  command->footer("A byte-order mark at the start of a file is dropped; sacreBLEU counts it as a character.");
  auto a = std::make_shared<EvalArguments>();
  auto& f = a->files;
  auto* run_option =
      command->add_option("run", a->run, "A folder that heed train made: its dev and test sets are judged");
  command->add_option("overrides", a->overrides,
                      "Of the run's recipe: data.root=elsewhere eval.tokenize=zh eval.beam=1");
  const std::vector<CLI::Option*> of_files{
      command->add_option("--hypothesis", f.hypothesis, "Translations, one a line"),
      command->add_option("--reference", f.references, "What they should have been: one file or several"),
      command->add_option("--metrics", f.metrics, "Some of " + joined(eval_metrics()) + ": --metrics bleu chrf")
          ->delimiter(',')
          ->capture_default_str(),
      command->add_option("--tokenize", f.bleu.tokenizer, "Of BLEU: " + joined(bleu_tokenizers()))
          ->capture_default_str(),
      command->add_flag("--lowercase", f.bleu.lowercase, "Of BLEU and chrF; TER always"),
      command->add_option("--source", f.source, "What was translated: BLEU by its length besides"),
      command->add_flag("--source-characters", f.source_characters,
                        "Lengths in characters; without it only where half of the lines have no whitespace"),
      command->add_option("--links", f.links, "Links to judge, Pharaoh lines"),
      command->add_option("--gold-links", f.gold_links, "Links as they should be; 3p4 is a possible one"),
      command->add_flag("--gold-from-one", f.gold_numbers.from_one, "Words of the gold links are counted from 1"),
      command->add_flag("--links-from-one", f.links_numbers.from_one, "Words of the links are counted from 1"),
      command->add_flag("--links-swapped", f.links_numbers.swapped, "The links are target-source"),
      command->add_option("--digits", f.digits, "Digits after the decimal point")
          ->check(whole_number(0, 15))
          ->capture_default_str()};
  command->add_flag("--json", a->json, "For machines");
  add_device_option(*command, a->device);
  command->callback([=] {
    if (run_option->count() > 0) refuse_file_options(a->run, of_files);
    run(*a);
  });
}

const Command eval_command{60, add_eval};

}  // namespace
}  // namespace heed::cli
