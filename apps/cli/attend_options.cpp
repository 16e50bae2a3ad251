// The options of heed attend.

#include "apps/cli/attend_options.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/examples.h"
#include "apps/cli/module.h"

namespace heed::cli {
namespace {

void add_choice_options(CLI::App& command, AttendArguments& a) {
  constexpr int64_t kMax = 1 << 20;  // how many there are is known when the run is loaded
  command
      .add_option("--attention", a.attention,
                  "cross: target words over source words; encoder, decoder: a Transformer's self-attention")
      ->check(CLI::IsMember({"cross", "encoder", "decoder"}))
      ->capture_default_str();
  command
      .add_option("--layer", a.layer,
                  "From 1; default: of cross-attention the layer that aligns words, of self-attention the last")
      ->check(whole_number(1, kMax));
  command.add_option("--head", a.head, "From 1; default: the mean of all heads")->check(whole_number(1, kMax));
  command.add_option("--step", a.step,
                     "Only these rows, from 1: 3 or 2-4. A row of cross or decoder is the step that writes its word");
}

void add_attend(CLI::App& app) {
  auto* command = app.add_subcommand("attend", "Show what a translator attends to: terminal, PNG, HTML or JSON");
  auto a = std::make_shared<AttendArguments>();
  add_examples(
      *command,
      {"{} attend runs/demo/additive --source 'I love China'",
       "{} attend runs/demo/additive --source 'Nanjing Yangtze River Bridge' --target 南京市长江大桥 --png map.png"},
      "Words that are not in the vocabulary are read as <unk>, and reported. Words of a script without spaces, "
      "such\nas Chinese, are segmented by longest match with the vocabulary. A model without attention (fixed, "
      "mean) is\ndrawn with equal weights.");
  command->add_option("run", a->run, "A run: a folder that training wrote")->required();
  command->add_option("--source", a->source, "A sentence; may be given more than once")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--target", a->target, "Its translation; default: the translator's own")->allow_extra_args(false);
  add_choice_options(*command, *a);
  command->add_option("--png", a->png, "Write a picture to this file");
  command->add_option("--html", a->html, "Write a page to this file; it opens offline");
  command->add_option("--beam", a->beam, "Hypotheses at once")->check(whole_number(1, 1000))->capture_default_str();
  command->add_flag("--json", a->json, "Words and weights for machines");
  add_max_length_option(*command, a->max_length);
  add_color_option(*command, a->colors);
  add_device_option(*command, a->device);
  command->callback([a] { run_in_module("attend", *a); });
}

const Command attend_command{50, add_attend};

}  // namespace
}  // namespace heed::cli
