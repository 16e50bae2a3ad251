// The options of heed demo.

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/demo.h"
#include "apps/cli/examples.h"
#include "apps/cli/module.h"

namespace heed::cli {
namespace {

void add_demo(CLI::App& app) {
  auto* demo = app.add_subcommand("demo", "Train two small translators, with attention and without, and compare them");
  auto a = std::make_shared<DemoArguments>();
  demo->add_option("--mechanism", a->options.mechanism, "Such as 'general + entmax(1.5)'; heed list shows the words")
      ->capture_default_str();
  demo->add_option("--seed", a->options.seed, "The same seed gives the same output")->capture_default_str();
  demo->add_option("--dir", a->options.folder, "Where the runs go")->capture_default_str();
  demo->add_option("overrides", a->options.overrides, "Of the recipe: train.max_epochs=2");
  add_color_option(*demo, a->colors);
  demo->callback([a] { run_in_module("demo", *a, Waiting::spin); });  // one thread
}

const Command demo_command{10, add_demo};

}  // namespace
}  // namespace heed::cli
