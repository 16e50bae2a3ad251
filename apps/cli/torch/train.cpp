// heed train: a recipe becomes a run.

#include <csignal>
#include <iostream>

#include "apps/cli/report.h"
#include "apps/cli/torch/body.h"
#include "apps/cli/train_options.h"

#include "heed/base/check.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/train/run/run_folder.h"
#include "heed/train/trainer.h"

namespace heed::cli {
namespace {

/// The recipe of a file, or of a run folder, which it then goes on in.
Settings recipe_of(const TrainArguments& a) {
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

int run_train(const TrainArguments& a) {
  const TrainResult result = train(recipe_of(a), {.resume = a.resume, .force = a.force, .quiet = a.quiet});
  if (result.interrupted) return 128 + result.signal;
  if (result.results.is_null()) return 0;  // of another process
  if (a.json)
    std::cout << result.results.dump(2) << '\n';
  else
    print_results(std::cout, result.results);
  return 0;
}

const Body train_body{"train", run_train};

}  // namespace
}  // namespace heed::cli
