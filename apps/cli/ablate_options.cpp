// Options of heed ablate.

#include <memory>

#include "apps/cli/ablate/ablate.h"
#include "apps/cli/command.h"

namespace heed::cli {
namespace {

void add_ablate(CLI::App& app) {
  auto* command = app.add_subcommand("ablate", "Train a recipe with other values of its keys, and compare the results");
  auto a = std::make_shared<AblateArguments>();
  command->add_option("recipe", a->recipe, "Recipe (YAML)");
  command->add_option("overrides", a->overrides, "Recipe overrides of all runs, key.path=value: train.max_epochs=8");
  command
      ->add_option("--vary", a->vary,
                   "A key and its values, key.path=value,value; several --vary make a grid. Commas inside brackets and "
                   "quotes separate nothing")
      ->allow_extra_args(false);
  command->add_option("--seeds", a->seeds, "Number of seeds, from 1; or a list, as 1,5,7")->capture_default_str();
  command->add_option("--jobs", a->jobs, "Runs at once; default 0: as many as processors and memory allow")
      ->check(whole_number(0, 1024));
  command->add_option("--out", a->folder, "Folder of the ablation; default: runs/ablate-<recipe>");
  command->add_flag("--dry-run", a->dry_run, "Only say which runs there are, and about how long they take");
  command->add_flag("--retry", a->retry, "Train failed runs again");
  command->add_option(
      "--attention", a->attention,
      "Gold for the attention of all runs, as heed eval has it, with its options: 'gold.tsv --set dev'");
  command->add_option("--table", a->table, "Only print the table of this folder");
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      "The same command goes on where it was stopped, after kill -9 too. More values or seeds extend a grid.");
  command->callback([a] {
    if (const int code = run_ablate(*a); code != 0) throw CLI::RuntimeError(code);
  });
}

const Command ablate_command{67, add_ablate};

}  // namespace
}  // namespace heed::cli
