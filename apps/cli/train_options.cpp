// Options of heed train.

#include "apps/cli/train_options.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/module.h"

namespace heed::cli {
namespace {

void add_train(CLI::App& app) {
  auto* command = app.add_subcommand("train", "Train a model from a recipe");
  auto a = std::make_shared<TrainArguments>();
  add_examples(*command,
               {"{} train runs/demo/additive/recipe.yaml model.attention='dot + sparsemax' run.dir=runs/demo/dot"});
  command->add_option("recipe", a->recipe, "Recipe (YAML), or a run folder with --resume")->required();
  command->add_option("overrides", a->overrides, "Recipe overrides, key.path=value: train.lr=0.001");
  auto* resume = command->add_flag("--resume", a->resume, "Continue from the last checkpoint, bit for bit");
  command->add_flag("--force", a->force, "Replace an existing run")->excludes(resume);
  command->add_flag("--quiet", a->quiet, "Print no progress");
  command->add_flag("--json", a->json, "Print the results as JSON");
  command->callback([a] { run_in_module("train", *a, Waiting::sleep); });
}

const Command train_command{20, add_train};

}  // namespace
}  // namespace heed::cli
