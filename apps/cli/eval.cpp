// heed eval: metrics of a run or of plain files. Files need no torch.

#include <iostream>
#include <memory>

#include "apps/cli/attention_options.h"
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

/// A run is evaluated with all metrics on its own data, so options for files do not apply.
void refuse_file_options(const std::string& run, const std::vector<CLI::Option*>& of_files) {
  for (const auto* option : of_files)
    if (option->count() > 0)
      throw CLI::ValidationError("eval", "got the run '" + excerpt(run) + "' and " + option->get_name() +
                                             ", expected one of them; heed eval RUN reports every metric, and files " +
                                             "are given by options alone: --hypothesis out.txt --reference ref.txt");
}

/// The attention of a run against gold.
void run_attention(EvalAttentionArguments a, const EvalArguments& of_run) {
  if (of_run.run.empty())
    throw CLI::ValidationError("eval", "got --attention without a run, expected heed eval RUN --attention GOLD");
  a.run = of_run.run;
  a.device = of_run.device;
  a.overrides = of_run.overrides;
  a.json = of_run.json;
  run_in_module("eval --attention", a);
}

void add_eval(CLI::App& app) {
  auto* command =
      app.add_subcommand("eval", "Evaluate a run, or files: heed eval --hypothesis out.txt --reference ref.txt");
  command->footer("A byte-order mark at the start of a file is ignored; sacreBLEU counts it as a character.");
  auto a = std::make_shared<EvalArguments>();
  auto& f = a->files;
  auto* run_option = command->add_option("run", a->run, "Run folder: its dev and test sets are translated and scored");
  command->add_option("overrides", a->overrides,
                      "Recipe overrides, key.path=value: data.root=... eval.tokenize=zh eval.beam=1");
  const std::vector<CLI::Option*> of_files{
      command->add_option("--hypothesis", f.hypothesis, "Translations, one sentence per line"),
      command->add_option("--reference", f.references, "Reference translations; one file or several"),
      command->add_option("--metrics", f.metrics, "Any of " + joined(eval_metrics()) + ": --metrics bleu chrf")
          ->delimiter(',')
          ->capture_default_str(),
      command->add_option("--tokenize", f.bleu.tokenizer, "BLEU tokenizer: " + joined(bleu_tokenizers()))
          ->capture_default_str(),
      command->add_flag("--lowercase", f.bleu.lowercase, "Ignore case in BLEU and chrF; TER always does"),
      command->add_option("--source", f.source, "Source text; adds BLEU by source length"),
      command->add_flag("--source-characters", f.source_characters,
                        "Source lengths in characters; default: only if half of the lines have no whitespace"),
      command->add_option("--links", f.links, "Word links to evaluate (AER), Pharaoh format"),
      command->add_option("--gold-links", f.gold_links, "Gold links; 3-4 is sure, 3p4 is possible"),
      command->add_flag("--gold-from-one", f.gold_numbers.from_one, "Gold links count words from 1"),
      command->add_flag("--links-from-one", f.links_numbers.from_one, "Links count words from 1"),
      command->add_flag("--links-swapped", f.links_numbers.swapped, "Links are target-source"),
      command->add_option("--digits", f.digits, "Digits after the decimal point")
          ->check(whole_number(0, 15))
          ->capture_default_str()};
  command->add_flag("--json", a->json, "Print JSON");
  add_device_option(*command, a->device);
  auto attention = std::make_shared<EvalAttentionArguments>();
  const auto* gold_option = add_attention_options(*command, *attention);
  command->callback([=] {
    if (run_option->count() > 0) refuse_file_options(a->run, of_files);
    if (gold_option->count() > 0) return run_attention(*attention, *a);
    run(*a);
  });
}

const Command eval_command{60, add_eval};

}  // namespace
}  // namespace heed::cli
