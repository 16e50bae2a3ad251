// Options of heed demo.

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/demo.h"
#include "apps/cli/module.h"

namespace heed::cli {
namespace {

void add_demo(CLI::App& app) {
  auto* demo = app.add_subcommand("demo", "Train two small models, with and without attention, and compare them");
  auto a = std::make_shared<DemoArguments>();
  demo->add_option("--task", a->options.task,
                   "translate: English into Chinese, in a minute; classify: reviews by sentiment, in seconds")
      ->check(CLI::IsMember({"translate", "classify"}))
      ->capture_default_str();
  demo->add_option("--mechanism", a->options.mechanism,
                   "Mechanism to train, such as 'general + entmax(1.5)'; see heed list. Default: " +
                       demo_mechanism("translate") + "; of classify " + demo_mechanism("classify"));
  demo->add_option("--seed", a->options.seed, "Random seed; the same seed gives the same output")
      ->capture_default_str();
  demo->add_option(
      "--dir", a->options.folder,
      "Folder to write the runs to. Default: " + demo_folder("translate") + " or " + demo_folder("classify"));
  demo->add_option("overrides", a->options.overrides, "Recipe overrides, key.path=value: train.max_steps=1000");
  add_color_option(*demo, a->colors);
  demo->callback([a] { run_in_module("demo", *a, Waiting::spin); });  // one thread
}

const Command demo_command{10, add_demo};

}  // namespace
}  // namespace heed::cli
