// heed train: a recipe becomes a run.

#include <csignal>
#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/report.h"

#include "heed/base/check.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/train/run/run_folder.h"
#include "heed/train/trainer.h"

namespace heed::cli {
namespace {

struct Arguments {
  std::string recipe;
  std::vector<std::string> overrides;
  bool resume = false, force = false, json = false, quiet = false;
};

/// The recipe of a file, or of a run folder, which it then goes on in.
Settings recipe_of(const Arguments& a) {
  if (a.resume) RunFolder::finish_replacement(a.recipe);
  if (!is_folder(a.recipe)) {
    Settings recipe = read_recipe(a.recipe, a.overrides);
    const std::string own = named_after(a.recipe);
    if (!recipe.has("name")) recipe.set("name", own);
    return recipe;
  }
  check(a.resume, "train: ", a.recipe, " is a folder; expected a recipe, or --resume ", a.recipe,
        " to go on with the run in it");
  Settings recipe = read_recipe(a.recipe + "/recipe.yaml", a.overrides);
  recipe.set("run.dir", a.recipe);  // as it is, whatever YAML would make of it
  return recipe;
}

void run(const Arguments& a) {
  const TrainResult result = train(recipe_of(a), {.resume = a.resume, .force = a.force, .quiet = a.quiet});
  if (result.interrupted) throw CLI::RuntimeError(128 + result.signal);
  if (result.results.is_null()) return;  // of another process
  if (a.json)
    std::cout << result.results.dump(2) << '\n';
  else
    print_results(std::cout, result.results);
}

void add_train(CLI::App& app) {
  auto* command = app.add_subcommand("train", "Train a model from a recipe: heed train recipe.yaml train.lr=5e-4");
  auto a = std::make_shared<Arguments>();
  command->add_option("recipe", a->recipe, "A recipe (YAML); with --resume also a run folder")->required();
  command->add_option("overrides", a->overrides, "key.path=value, as many as you like");
  auto* resume = command->add_flag("--resume", a->resume, "Go on from the last checkpoint, bit for bit");
  command->add_flag("--force", a->force, "Start over where a run is")->excludes(resume);
  command->add_flag("--quiet", a->quiet, "No progress, no lines");
  command->add_flag("--json", a->json, "Results for machines");
  command->callback([a] { run(*a); });
}

const Command train_command{20, add_train};

}  // namespace
}  // namespace heed::cli
