#include "apps/cli/demo.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <unistd.h>

#include "apps/cli/heat/heat_map.h"
#include "apps/cli/heat/html.h"
#include "apps/cli/program_name.h"
#include "apps/cli/torch/body.h"
#include "apps/cli/torch/child_program.h"
#include "apps/cli/torch/translation_maps.h"

#include "heed/attention/mechanism.h"
#include "heed/base/shell.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/torch_support/threads.h"
#include "heed/train/trainer.h"

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

struct Learner {
  std::string name, attention;  // name in the output; model.attention of the recipe
  TrainResult result{};
};

Settings recipe_for(const Learner& learner, const DemoOptions& options) {
  Settings recipe = parse_recipe(kDemoRecipe, "demo", options.overrides);
  recipe.set("model.attention", learner.attention);
  recipe.set("train.seed", std::to_string(options.seed));
  recipe.set("run.dir", options.folder + "/" + learner.name);
  return recipe;
}

TrainResult learn(const Learner& learner, const DemoOptions& options) {
  return train(recipe_for(learner, options), {.force = true, .quiet = options.quiet, .program = program_name()});
}

/// A translator that a process of its own trains, at the same time as this one trains another.
class LearnerElsewhere {
 public:
  LearnerElsewhere(const Learner& learner, const DemoOptions& options)
      : folder_(options.folder + "/" + learner.name), recipe_{options.folder + "/." + learner.name + ".yaml"} {
    make_folders(options.folder);
    write_atomically(recipe_.path, recipe_yaml(recipe_for(learner, options)));
    const std::string path = (recipe_.path[0] == '-' ? "./" : "") + recipe_.path;
    process_.emplace(options.program, std::vector<std::string>{"--threads", "1", "train", path, "--force", "--quiet"});
  }
  LearnerElsewhere(const LearnerElsewhere&) = delete;
  LearnerElsewhere& operator=(const LearnerElsewhere&) = delete;

  TrainResult wait() {
    const int status = process_->wait();
    if (status > 128) return {.folder = folder_, .interrupted = true, .signal = status - 128};
    check(status == 0, "demo: training of ", folder_, " ended with status ", status, "; see ", folder_, "/log.txt");
    return {.folder = folder_, .results = Json::parse(read_file(folder_ + "/results.json"))};
  }

 private:
  struct TemporaryFile {
    std::string path;
    ~TemporaryFile() { ::unlink(path.c_str()); }
  };
  std::string folder_;
  TemporaryFile recipe_;
  std::optional<ChildProgram> process_;
};

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

/// Name of the run: the score, and the alignment unless it is softmax.
std::string short_name(const std::string& words) {
  const auto parts = Mechanism::parse(words).parts();
  std::string name = parts.score.name + (parts.align.name == "softmax" ? "" : "_" + parts.align.name);
  return name;
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

int run_demo(std::ostream& out, const DemoOptions& options) {
  // Tensors this small gain nothing from more threads, and one thread gives the same figures on every machine.
  use_threads(1);
  std::vector<Learner> learners{{short_name(options.mechanism), options.mechanism}, {"fixed", "fixed"}};
  Learner &attentive = learners.front(), &baseline = learners.back();
  out << "Training two English-Chinese translators on sentences of a small grammar"
      << (options.program.empty() ? "" : ", at the same time") << ":\n  " << padded(attentive.name, 10)
      << "with attention (" << options.mechanism << ")\n  " << padded(baseline.name, 10)
      << "without: one context for all words\n"
      << std::flush;
  std::optional<LearnerElsewhere> elsewhere;
  if (!options.program.empty()) elsewhere.emplace(baseline, options);
  attentive.result = learn(attentive, options);
  if (attentive.result.interrupted) return attentive.result.signal;
  print_line(out, attentive);
  baseline.result = elsewhere ? elsewhere->wait() : learn(baseline, options);
  if (baseline.result.interrupted) return baseline.result.signal;
  print_line(out, baseline);
  print_by_length(out, learners);
  show_maps(out, attentive, options);
  print_next_steps(out, learners, options);
  return 0;
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
