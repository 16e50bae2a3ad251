// heed train: trains a model from a recipe and writes a run folder.

#include <csignal>
#include <iostream>

#include "apps/cli/program_name.h"
#include "apps/cli/report.h"
#include "apps/cli/torch/body.h"
#include "apps/cli/train_options.h"

#include "heed/base/check.h"
#include "heed/base/shell.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/data/runs.h"
#include "heed/train/run/run_folder.h"
#include "heed/train/trainer.h"

namespace heed::cli {
namespace {

/// The recipe of a file; with --resume, also of a run folder, where training continues.
Settings recipe_of(const TrainArguments& a) {
  if (a.resume) RunFolder::finish_replacement(a.recipe);
  if (!is_folder(a.recipe)) {
    Settings recipe = read_recipe(a.recipe, a.overrides);
    const std::string own = named_after(a.recipe);
    if (!recipe.has("name")) recipe.set("name", own);
    return recipe;
  }
  check_run(a.recipe);
  check(a.resume, "train: got the folder ", a.recipe,
        ", expected a recipe; to go on with a run: ", pasteable("{} train --resume " + quoted_for_shell(a.recipe)));
  Settings recipe = read_recipe(a.recipe + "/recipe.yaml", a.overrides);
  recipe.set("run.dir", a.recipe);  // the path literally, not parsed as YAML
  return recipe;
}

/// Prints example commands for a translator, with a sentence of its dev set.
void print_next_steps(std::ostream& out, const nlohmann::ordered_json& results) {
  const auto example = results.value(nlohmann::ordered_json::json_pointer("/dev/example/source"), std::string());
  if (example.empty()) return;
  const std::string run = quoted_for_shell(results.value("run", "")), sentence = quoted_for_shell(example);
  out << "next:\n  " << pasteable("echo " + sentence + " | {} translate " + run) << "\n  "
      << pasteable("{} attend " + run + " --source " + sentence) << '\n';
}

int run_train(const TrainArguments& a) {
  const TrainResult result =
      train(recipe_of(a), {.resume = a.resume, .force = a.force, .quiet = a.quiet, .program = program_name()});
  if (result.interrupted) return 128 + result.signal;
  if (result.results.is_null()) return 0;  // not the process that writes results
  if (a.json) {
    std::cout << result.results.dump(2) << '\n';
    return 0;
  }
  print_results(std::cout, result.results);
  print_next_steps(std::cout, result.results);
  return 0;
}

const Body train_body{"train", run_train};

}  // namespace
}  // namespace heed::cli
