#include "apps/cli/torch/demo_classify.h"

#include "apps/cli/heat/html.h"
#include "apps/cli/heat/text_map.h"
#include "apps/cli/program_name.h"
#include "apps/cli/torch/demo_learner.h"
#include "apps/cli/torch/relevant_share.h"
#include "apps/cli/torch/text_maps.h"

#include "heed/base/shell.h"
#include "heed/data/file.h"
#include "heed/data/labeled/labeled_corpus.h"
#include "heed/data/recipe.h"

namespace heed::cli {

// A feature of a convolution depends on a word and its neighbors alone, so weights say which words matter. Few steps:
// with four times as many the mean learns these reviews as well.
const char* const kClassifyDemoRecipe = R"(task: classify
data:
  train: reviews
  lowercase: true
  tokenizer: words
model:
  embedding: {dim: 96, dropout: 0}
  features: {kind: convolution, dim: 96, widths: [1, 3]}
  attention: self_attentive + softmax
  output: {dropout: 0}
train:
  max_epochs: 0
  max_steps: 150
  batch_tokens: 2000
  lr: 0.003
  schedule: cosine(warmup_steps=30)
  validate_every: 1000
name: demo-classify-recipe
)";

namespace {

constexpr size_t kReviewsPrinted = 3, kReviewsOnPage = 30;

Examples test_reviews(const Learner& learner) {
  const Settings recipe = read_recipe(learner.result.folder + "/recipe.yaml");
  return read_labeled_corpus(read_labeled_options(recipe.at("data"))).test;
}

std::string percent(double share) {
  return fixed(100 * share, 1) + " %";
}

void print_accuracy(std::ostream& out, const Learner& learner) {
  out << learner.name << ": accuracy " << percent(learner.result.results["test"]["accuracy"].get<double>()) << '\n'
      << std::flush;
}

void print_shares(std::ostream& out, Classifier& classifier, const Examples& test) {
  const RelevantShare share = relevant_share(classifier, test);
  out << "\nWhich words of a review decide is known: " << percent(share.words) << " of them. They have "
      << percent(share.weight) << " of the weight.\n";
}

void show_reviews(std::ostream& out, Classifier& classifier, const Examples& test, const DemoOptions& options) {
  std::vector<TextMap> maps;
  for (size_t i = 0; i < std::min(kReviewsOnPage, test.size()); ++i) {
    const auto weights = chosen_weights(classifier, test.texts[i], "", 0);
    for (auto& map : pictures_of(classifier, classifier.predict({test.texts[i]}).front(), weights).texts) {
      map.remark = "labeled " + test.labels[i];
      maps.push_back(std::move(map));
    }
  }
  out << "\nNew reviews, with the weights of the words in percent:\n";
  for (size_t i = 0; i < std::min(kReviewsPrinted, maps.size()); ++i)
    print_text_map(out, maps[i], options.colors, options.columns);
  write_atomically(options.folder + "/index.html",
                   html_page("What " + classifier.model().attention().to_string() + " attends to", {}, maps));
}

void print_what_next(std::ostream& out, const std::vector<Learner>& learners, const DemoOptions& options) {
  const std::string run = quoted_for_shell(learners.front().result.folder),
                    baseline = quoted_for_shell(learners.back().result.folder);
  const std::vector<std::string> commands{
      "echo 'The soup was not fresh . We loved the wine .' | {} classify " + run + " --attend",
      "{} attend " + run + " --text 'Nobody enjoyed the breakfast . The pool was not red .' --html map.html",
      "{} eval " + baseline, "{} compare " + run + " " + baseline};
  out << "\nWritten:\n  " << options.folder << "/index.html  (more reviews: open it in a browser)\n  "
      << learners.front().result.folder << ", " << learners.back().result.folder << "  (the two runs)\nNext:\n";
  for (const auto& command : commands) out << "  " << pasteable(command) << '\n';
}

}  // namespace

int run_classify_demo(std::ostream& out, const DemoOptions& options) {
  std::vector<Learner> learners{{short_name(options.mechanism), options.mechanism}, {"mean", "mean"}};
  out << "Training two classifiers of reviews" << (options.program.empty() ? "" : ", at the same time") << ":\n  "
      << padded(learners.front().name, 15) << "with attention (" << options.mechanism << ")\n  " << padded("mean", 15)
      << "without: every word has the same weight\n"
      << std::flush;
  if (const int signal =
          learn_both(kClassifyDemoRecipe, learners, options, [&](const Learner& one) { print_accuracy(out, one); }))
    return signal;
  const Examples test = test_reviews(learners.front());
  Classifier classifier = Classifier::load(learners.front().result.folder, at::kCPU);
  print_shares(out, classifier, test);
  show_reviews(out, classifier, test, options);
  print_what_next(out, learners, options);
  return 0;
}

}  // namespace heed::cli
