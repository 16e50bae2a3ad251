// heed eval: how good a run is, or plain files are.

#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/device.h"
#include "apps/cli/eval_files.h"
#include "apps/cli/report.h"

#include "heed/base/check.h"
#include "heed/bridge/model_file.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/metrics/bleu_tokenizer.h"
#include "heed/train/task.h"
#include "heed/train/train_options.h"

namespace heed::cli {
namespace {

struct Arguments {
  std::string run, device = "auto";
  std::vector<std::string> overrides;
  bool json = false;
  EvalFilesOptions files;
};

/// The sets of the run's recipe, with the best weights.
nlohmann::ordered_json evaluated(const Arguments& a) {
  const std::string weights = a.run + "/model.safetensors";
  check(is_folder(a.run) && exists(a.run + "/recipe.yaml"), "eval: ", a.run,
        " is no run; expected a folder that heed train made, or --hypothesis and --reference");
  check(exists(weights), "eval: ", a.run, " has no model.safetensors yet: training writes it at the first validation");
  const Settings recipe = read_recipe(a.run + "/recipe.yaml", a.overrides);
  read_train_options(recipe);  // so that a task may refuse what nobody knows
  const auto task = Task::Parts::make(recipe.choice("task", Task::Parts::names()), recipe,
                                      TaskEnvironment{a.run, device_of(a.device), /*resumed=*/true});
  task->model().to(device_of(a.device));
  load_model(task->model(), a.run);
  task->model().eval();
  return task->evaluate("");
}

void run(const Arguments& a) {
  if (a.run.empty()) {
    EvalFilesOptions files = a.files;
    files.json = a.json;
    return eval_files(std::cout, files);
  }
  const auto report = evaluated(a);
  if (a.json)
    std::cout << report.dump(2) << '\n';
  else
    print_results(std::cout, report);
}

void add_eval(CLI::App& app) {
  auto* command =
      app.add_subcommand("eval", "Judge a run, or plain files: heed eval --hypothesis out.txt --reference ref.txt");
  command->footer("A byte-order mark at the start of a file is dropped; sacreBLEU counts it as a character.");
  auto a = std::make_shared<Arguments>();
  auto& f = a->files;
  auto* run_option =
      command->add_option("run", a->run, "A folder that heed train made: its dev and test sets are judged");
  command->add_option("overrides", a->overrides,
                      "Of the run's recipe: data.root=elsewhere eval.tokenize=zh eval.beam=1");
  const std::vector<CLI::Option*> of_files{
      command->add_option("--hypothesis", f.hypothesis, "Translations, one a line"),
      command->add_option("--reference", f.references, "What they should have been; may be given more than once")
          ->allow_extra_args(false),
      command->add_option("--metrics", f.metrics, joined(eval_metrics()))
          ->delimiter(',')
          ->allow_extra_args(false)
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
  for (auto* option : of_files) option->excludes(run_option);
  command->add_flag("--json", a->json, "For machines");
  add_device_option(*command, a->device);
  command->callback([a] { run(*a); });
}

const Command eval_command{60, add_eval};

}  // namespace
}  // namespace heed::cli
