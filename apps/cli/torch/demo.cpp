#include "apps/cli/demo.h"

#include <iostream>
#include <unistd.h>

#include "apps/cli/heat/heat_map.h"
#include "apps/cli/heat/html.h"
#include "apps/cli/program_name.h"
#include "apps/cli/torch/body.h"
#include "apps/cli/torch/demo_classify.h"
#include "apps/cli/torch/demo_learner.h"
#include "apps/cli/torch/translation_maps.h"

#include "heed/base/shell.h"
#include "heed/data/file.h"
#include "heed/torch_support/threads.h"

namespace heed::cli {

const char* const kDemoRecipe = R"(task: translate
data:
  train: grammar
  grammar: {train: 16000, dev: 100, test: 400}
  tokenizer: words
model:
  embedding: {dim: 96, dropout: 0}
  features: {kind: recurrent, dim: 128}
  query: {kind: bahdanau, state_dim: 128, out_dim: 96}
  attention: additive + softmax
train:
  max_epochs: 0
  max_steps: 580
  batch_tokens: 1100
  lr: 0.007
  schedule: cosine(warmup_steps=60)
  validate_every: 1000
eval: {tokenize: none, beam: 1}
name: demo-recipe
)";

namespace {

using Json = nlohmann::ordered_json;

void print_line(std::ostream& out, const Learner& learner) {
  const Json& test = learner.result.results["test"];
  out << learner.name << ": BLEU " << fixed(test["bleu"], 1);
  if (test.contains("aer")) out << " AER " << fixed(100 * test["aer"].get<double>(), 1) << " %";
  out << '\n' << std::flush;
}

void print_by_length(std::ostream& out, const std::vector<Learner>& learners) {
  out << "\nBLEU by the length of the English sentence:\n  words ";
  const auto& buckets = learners.front().result.results["test"]["bleu_by_length"];
  for (const auto& bucket : buckets)
    out << padded_left(std::to_string(bucket["from"].get<int>()) + "-" + std::to_string(bucket["to"].get<int>()), 9);
  out << '\n';
  for (const auto& learner : learners) {
    out << "  " << padded(learner.name, 10);
    for (const auto& bucket : learner.result.results["test"]["bleu_by_length"])
      out << padded_left(fixed(bucket["bleu"], 1), 9);
    out << '\n';
  }
}

void show_maps(std::ostream& out, const Learner& learner, const DemoOptions& options) {
  Translator translator = Translator::load(learner.result.folder, at::kCPU);
  const std::vector<std::string> sentences{"Tom chases Jerry", "I love China", "Nanjing Yangtze River Bridge",
                                           "two angry cats that Uncle Sam knows chase the mouse",
                                           "today Mary 's teacher gives the book to Tom in the garden"};
  const auto maps = translation_maps(translator, sentences, 1);
  out << "\nAttention weights (a row for each Chinese word, a column for each English word):\n";
  print_heat_map(out, maps.front(), options.colors, options.columns);
  write_atomically(options.folder + "/index.html", html_page("What " + learner.name + " attention attends to", maps));
}

void print_next_steps(std::ostream& out, const std::vector<Learner>& learners, const DemoOptions& options) {
  const std::string run = quoted_for_shell(learners.front().result.folder),
                    baseline = quoted_for_shell(learners.back().result.folder);
  const std::vector<std::string> commands{
      "echo 'Tom chases two clever cats' | {} translate " + run,
      "{} attend " + run + " --source 'I love China' --html map.html",
      "{} attend " + baseline + " --source 'I love China'",
      "{} train " + quoted_for_shell(learners.front().result.folder + "/recipe.yaml") +
          " model.attention='general + entmax(1.5)' run.dir=" + quoted_for_shell(options.folder + "/general")};
  out << "\nWritten:\n  " << options.folder << "/index.html  (the maps of more sentences: open it in a browser)\n  "
      << learners.front().result.folder << ", " << learners.back().result.folder << "  (the two runs)\nNext:\n";
  for (const auto& command : commands) out << "  " << pasteable(command) << '\n';
}

}  // namespace

namespace {

int run_translate_demo(std::ostream& out, const DemoOptions& options) {
  std::vector<Learner> learners{{short_name(options.mechanism), options.mechanism}, {"fixed", "fixed"}};
  const Learner& attentive = learners.front();
  out << "Training two English-Chinese translators on sentences of a small grammar"
      << (options.program.empty() ? "" : ", at the same time") << ":\n  " << padded(attentive.name, 10)
      << "with attention (" << options.mechanism << ")\n  " << padded(learners.back().name, 10)
      << "without: one context for all words\n"
      << std::flush;
  if (const int signal = learn_both(kDemoRecipe, learners, options, [&](const Learner& one) { print_line(out, one); }))
    return signal;
  print_by_length(out, learners);
  show_maps(out, attentive, options);
  print_next_steps(out, learners, options);
  return 0;
}

}  // namespace

int run_demo(std::ostream& out, const DemoOptions& given) {
  DemoOptions options = given;
  if (options.mechanism.empty()) options.mechanism = demo_mechanism(options.task);
  if (options.folder.empty()) options.folder = demo_folder(options.task);
  // Tensors this small gain nothing from more threads, and one thread gives the same figures on every machine.
  use_threads(1);
  return options.task == "classify" ? run_classify_demo(out, options) : run_translate_demo(out, options);
}

namespace {

int run_demo_command(const DemoArguments& a) {
  DemoOptions options = a.options;
  options.colors = colors(a.colors, isatty(STDOUT_FILENO) == 1);
  options.columns = terminal_columns();
  options.program = program_file();
  const int signal = run_demo(std::cout, options);
  return signal == 0 ? 0 : 128 + signal;
}

const Body demo_body{"demo", run_demo_command};

}  // namespace
}  // namespace heed::cli
