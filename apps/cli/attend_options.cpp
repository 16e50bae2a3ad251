// Options of heed attend.

#include "apps/cli/attend_options.h"

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/module.h"

namespace heed::cli {
namespace {

void add_choice_options(CLI::App& command, AttendArguments& a) {
  constexpr int64_t kMax = 1 << 20;  // the actual number is known once the run is loaded
  command
      .add_option("--attention", a.attention,
                  "cross: target over source words; encoder, decoder: self-attention of a Transformer")
      ->check(CLI::IsMember({"cross", "encoder", "decoder"}))
      ->capture_default_str();
  command
      .add_option("--layer", a.layer,
                  "Layer, from 1; default: the alignment layer of cross-attention, the last of self-attention")
      ->check(whole_number(1, kMax));
  command.add_option("--head", a.head, "Head, from 1; default: mean of all heads")->check(whole_number(1, kMax));
  command.add_option("--call", a.call,
                     "Of a classifier: name of an attention call, or all; default: the last that attends to the words, "
                     "and of documents both levels");
  command.add_option("--step", a.step,
                     "Rows to show, from 1: 3 or 2-4; a row of cross or decoder is one decoding step");
}

void add_attend(CLI::App& app) {
  auto* command = app.add_subcommand("attend", "Show the attention weights of a run: terminal, PNG, HTML or JSON");
  auto a = std::make_shared<AttendArguments>();
  add_examples(
      *command,
      {"{} attend runs/demo/additive --source 'I love China'",
       "{} attend runs/demo/additive --source 'Nanjing Yangtze River Bridge' --target 南京市长江大桥 --html map.html"},
      "Out-of-vocabulary words are read as <unk> and reported. Words of a script without spaces, such as Chinese, "
      "are\nsegmented by longest match with the vocabulary. A model without attention (fixed, mean) is drawn with "
      "equal\nweights. A classifier takes --text instead of --source, and shows its words with their weights in "
      "percent:\n"
      "a line for each query, hop or class, and for each sentence of a document, with the weight of the sentence; a "
      "map\n"
      "where words attend to words. After heed explain, a line below each map says what tests of these weights found.");
  command->add_option("run", a->run, "Run folder, written by heed train or heed demo")->required();
  command->add_option("--source", a->source, "Source sentence; repeat the option for more sentences")
      ->allow_extra_args(false);
  command->add_option("--target", a->target, "Translation, one for each --source; default: the model's own")
      ->allow_extra_args(false);
  command
      ->add_option("--text", a->text,
                   "Text to classify; repeat the option for more. Tabs separate the texts of an example")
      ->allow_extra_args(false);
  add_choice_options(*command, *a);
  command->add_option("--png", a->png, "Write the picture as PNG to this file; takes one --source or --text");
  command->add_option("--html", a->html, "Write the pictures as one self-contained HTML page to this file");
  command->add_option("--beam", a->beam, "Beam size; 1 is greedy search")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", a->json, "Print words and weights as JSON");
  add_max_length_option(*command, a->max_length);
  add_color_option(*command, a->colors);
  add_device_option(*command, a->device);
  command->callback([a, command] {
    if (a->source.empty() && a->text.empty()) throw CLI::RequiredError("--source or --text");
    for (const char* name : {"--source", "--target", "--attention", "--layer", "--step", "--beam", "--max-length"})
      if (command->count(name) > 0) a->of_translators.emplace_back(name);
    run_in_module("attend", *a);
  });
}

const Command attend_command{50, add_attend};

}  // namespace
}  // namespace heed::cli
