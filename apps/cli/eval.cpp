// heed eval: metrics of a run or of plain files. Files need no torch.

#include <iostream>
#include <memory>

#include "apps/cli/attention_options.h"
#include "apps/cli/command.h"
#include "apps/cli/eval_options.h"
#include "apps/cli/module.h"
#include "apps/cli/table.h"

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/metrics/bleu_tokenizer.h"

namespace heed::cli {
namespace {

void run(const EvalArguments& a) {
  if (!a.run.empty()) return run_in_module("eval", a);
  EvalFilesOptions files = a.files;
  files.json = a.json;
  files.columns = output_columns(0);
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
  a.samples = of_run.files.significance.resampling.samples;
  a.seed = static_cast<int64_t>(of_run.files.significance.resampling.seed);
  run_in_module("eval --attention", a);
}

using AddedOptions = std::vector<CLI::Option*>;

/// Options of the metrics of files.
AddedOptions add_metric_options(CLI::App& command, EvalFilesOptions& f) {
  return {
      command.add_option("--tokenize", f.bleu.tokenizer, "BLEU tokenizer: " + joined(bleu_tokenizers()))
          ->capture_default_str(),
      command.add_flag("--lowercase", f.bleu.lowercase, "Ignore case in BLEU and chrF; TER always does"),
      command.add_option("--phone-fold", f.phone_fold,
                         "per: timit (61 to 39 phones), or a file with a phone and what becomes of it per line"),
      command.add_option("--average", f.average, "precision, recall, f1: how classes are averaged")
          ->check(CLI::IsMember({"macro", "micro", "weighted", "samples"}))
          ->capture_default_str(),
      command.add_option("--k", f.k, "hr, ndcg: items of a ranking that count")
          ->check(whole_number(1, 1 << 30))
          ->capture_default_str(),
      command.add_option("--ssim-window", f.ssim_window, "ssim: Wang et al.'s Gaussian, or 7 x 7 equal weights")
          ->check(CLI::IsMember({"wang", "uniform"}))
          ->capture_default_str(),
      command.add_option("--data-range", f.data_range, "psnr, ssim: range of values; default: that of the files")
          ->check(finite_number(1e-300, 1e300)),
      command.add_option("--classes", f.classes, "miou, hamming_loss: number of classes; default: those that occur")
          ->check(whole_number(1, 1 << 16)),
      command.add_option("--ignore-class", f.ignore_class, "miou: pixels of the reference that are not counted")
          ->check(whole_number(0, (1 << 16) - 1))};
}

/// Options of links, and of BLEU by source length.
AddedOptions add_link_options(CLI::App& command, EvalFilesOptions& f) {
  return {command.add_option("--source", f.source, "Source text; adds BLEU by source length"),
          command.add_flag("--source-characters", f.source_characters,
                           "Source lengths in characters; default: only if half of the lines have no whitespace"),
          command.add_option("--links", f.links, "Word links to evaluate (AER), Pharaoh format"),
          command.add_option("--gold-links", f.gold_links, "Gold links; 3-4 is sure, 3p4 is possible"),
          command.add_flag("--gold-from-one", f.gold_numbers.from_one, "Gold links count words from 1"),
          command.add_flag("--links-from-one", f.links_numbers.from_one, "Links count words from 1"),
          command.add_flag("--links-swapped", f.links_numbers.swapped, "Links are target-source")};
}

AddedOptions add_file_options(CLI::App& command, EvalFilesOptions& f) {
  AddedOptions all{
      command.add_option("--hypothesis", f.hypotheses,
                         "Output of a system, one sentence, label, number, box or ranking per line, or images; several "
                         "are compared, the first is the baseline"),
      command.add_option("--reference", f.references, "Reference; for bleu, chrf, ter and meteor one file or several"),
      command
          .add_option("--metrics", f.metrics,
                      "Any of one kind of files: --metrics bleu chrf. " + FileMetric::names_by_kind())
          ->delimiter(',')
          ->capture_default_str()};
  for (const auto& more : {add_metric_options(command, f), add_link_options(command, f)})
    all.insert(all.end(), more.begin(), more.end());
  all.push_back(command.add_option("--digits", f.digits, "Digits after the decimal point; default: 2 or 4")
                    ->check(whole_number(0, 15)));
  all.push_back(command.add_flag("--intervals", f.significance.intervals, "Add 95 % intervals (bootstrap)"));
  all.push_back(command.add_option("--paired", f.significance.paired, "Test every system against the first one")
                    ->check(CLI::IsMember({"bootstrap", "randomization"})));
  return all;
}

/// Options of every test of significance, also of attention against gold.
AddedOptions add_sampling_options(CLI::App& command, ResamplingOptions& of) {
  return {command.add_option("--samples", of.samples, "Samples of intervals and tests")
              ->check(whole_number(1, 1 << 24))
              ->capture_default_str(),
          command.add_option("--seed", of.seed, "Seed of the samples")->capture_default_str()};
}

void add_eval(CLI::App& app) {
  auto* command =
      app.add_subcommand("eval", "Evaluate a run, or files: heed eval --hypothesis out.txt --reference ref.txt");
  command->footer("A byte-order mark at the start of a file is ignored; sacreBLEU counts it as a character.");
  auto a = std::make_shared<EvalArguments>();
  auto* run_option = command->add_option("run", a->run, "Run folder: its dev and test sets are translated and scored");
  command->add_option("overrides", a->overrides,
                      "Recipe overrides, key.path=value: data.root=... eval.tokenize=zh eval.beam=1");
  const auto of_files = add_file_options(*command, a->files);
  const auto of_samples = add_sampling_options(*command, a->files.significance.resampling);
  command->add_flag("--json", a->json, "Print JSON");
  add_device_option(*command, a->device);
  auto attention = std::make_shared<EvalAttentionArguments>();
  const auto* gold_option = add_attention_options(*command, *attention);
  command->callback([=] {
    if (run_option->count() > 0) refuse_file_options(a->run, of_files);
    if (gold_option->count() > 0) return run_attention(*attention, *a);
    if (run_option->count() > 0) refuse_file_options(a->run, of_samples);
    run(*a);
  });
}

const Command eval_command{60, add_eval};

}  // namespace
}  // namespace heed::cli
