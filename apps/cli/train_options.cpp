// The options of heed train.

#include "apps/cli/train_options.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/examples.h"
#include "apps/cli/module.h"

namespace heed::cli {
namespace {

void add_train(CLI::App& app) {
  auto* command = app.add_subcommand("train", "Train a model from a recipe");
  auto a = std::make_shared<TrainArguments>();
  add_examples(*command,
               {"{} train runs/demo/additive/recipe.yaml model.attention='dot + sparsemax' run.dir=runs/demo/dot"});
  command->add_option("recipe", a->recipe, "A recipe (YAML); with --resume also a run folder")->required();
  command->add_option("overrides", a->overrides, "key.path=value, as many as you like");
  auto* resume = command->add_flag("--resume", a->resume, "Go on from the last checkpoint, bit for bit");
  command->add_flag("--force", a->force, "Start over where a run is")->excludes(resume);
  command->add_flag("--quiet", a->quiet, "No progress, no lines");
  command->add_flag("--json", a->json, "Results for machines");
  command->callback([a] { run_in_module("train", *a, Waiting::sleep); });
}

const Command train_command{20, add_train};

}  // namespace
}  // namespace heed::cli
