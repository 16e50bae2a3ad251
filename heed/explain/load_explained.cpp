#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/path.h"
#include "heed/data/labeled/labeled_corpus.h"
#include "heed/data/recipe.h"
#include "heed/data/runs.h"
#include "heed/data/saved_model.h"
#include "heed/explain/drawn_texts.h"
#include "heed/explain/explained_classifier.h"
#include "heed/explain/explained_translator.h"

namespace heed {
namespace {

constexpr const char *kDev = "dev", *kTest = "test";

/// The weights of people for the words of a text: a rationale, or what decides a built-in review.
std::vector<double> rationale_of(const Examples& examples, size_t i) {
  if (i < examples.rationales.size()) return examples.rationales[i].weights;
  if (i >= examples.relevant.size()) return {};
  return {examples.relevant[i].begin(), examples.relevant[i].end()};
}

}  // namespace

std::unique_ptr<ExplainedModel> load_explained_classifier(const std::string& run, const ExplainedSet& set,
                                                          at::Device device) {
  Classifier classifier = Classifier::load(run, device);
  const Settings recipe = read_recipe(run + "/recipe.yaml", set.overrides);
  LabeledOptions options = read_labeled_options(recipe.at("data"), classifier.labels().form == LabelForm::one);
  options.examples.phrases = false;
  options.examples.sentences = "none";  // texts as in the files: the run prepares what it reads
  options.examples.lowercase = false;
  const LabeledCorpus corpus = read_labeled_corpus(options);
  const Examples& examples = set.set == kDev ? corpus.dev : corpus.test;
  check(examples.size() > 0, "explain: got the set ", set.set, ", expected one that the recipe of ", run, " has");
  std::vector<ClassifiedText> texts;
  for (const size_t i : drawn_texts(examples.size(), set)) {
    ClassifiedText one{.text = examples.texts[i].front()};
    one.explained.id = examples.ids.empty() ? file_name(examples.origins[i]) : examples.ids[i];
    one.explained.gold = parse_label(classifier.labels(), examples.labels[i], examples.origins[i]).classes;
    one.explained.rationale = rationale_of(examples, i);
    texts.push_back(std::move(one));
  }
  return explained_classifier(run, std::move(classifier), std::move(texts));
}

std::unique_ptr<ExplainedModel> load_explained(const std::string& run, const ExplainedSet& set, at::Device device) {
  check_run(run);
  check(set.set == kDev || set.set == kTest, "explain: got the set '", set.set, "', expected dev or test");
  const std::string task = read_config(run).value("task", "translate");
  if (task == "translate") return load_explained_translator(run, set, device);
  check(task == "classify", "explain: ", run, ": got a run of the task ", task, ", expected classify or translate");
  return load_explained_classifier(run, set, device);
}

}  // namespace heed
