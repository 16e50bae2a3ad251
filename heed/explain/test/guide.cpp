// Whether the weights are of use to a model that cannot make up for them (Wiegreffe & Pinter, 2019): the encoder is
// replaced by a layer that reads each token alone, and the weights of the run are imposed on it, in training and
// afterwards. Next to it: equal weights, weights that it learns itself, and those of an adversary.
//
// Weights that are about the tokens, and not about states of the encoder that happen to be there, help this model more
// than what it learns without context.

#include <algorithm>
#include <cmath>

#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/explain/by_class.h"
#include "heed/explain/retrained.h"
#include "heed/explain/side_by_side.h"

namespace heed {
namespace {

constexpr const char *kGuidedUniform = "tokenwise_uniform", *kGuidedOwn = "tokenwise_own",
                     *kGuidedOfRun = "tokenwise_of_run", *kGuidedOfAdversary = "tokenwise_of_adversary";
constexpr int64_t kTokenwiseWidth = 256;  // of the layer, where the recipe says nothing

/// The first adversary with a lambda above 0; -1: there is none.
double guiding_lambda(const VariantOptions& options) {
  const auto found =
      std::find_if(options.lambdas.begin(), options.lambdas.end(), [](double lambda) { return lambda > 0; });
  return found == options.lambdas.end() ? -1 : *found;
}

std::string tokenwise_features(const std::string& run) {
  const std::string recipe = run + "/recipe.yaml";
  int64_t width = kTokenwiseWidth;
  if (exists(recipe)) width = read_recipe(recipe).at("model").at("features", "kind").integer("dim", kTokenwiseWidth, 1);
  return "model.features={kind: tokenwise, dim: " + std::to_string(width) + "}";
}

class GuideTest final : public ExplanationTest {
 public:
  explicit GuideTest(const Options&) {}

  ExplanationResult card() const override {
    return {.title = "Weights imposed on a model without context",
            .paper = "Wiegreffe & Pinter, 2019",
            .means =
                "F1 of a model that reads each token alone, with imposed weights: where those of the run are "
                "better than equal ones and than what it learns itself, they say which tokens matter beyond the "
                "encoder that they were learned with.",
            .means_not =
                "Weights that guide another model well are about the task; whether the run itself uses them "
                "so is another question."};
  }
  std::string why_not(const ExplainedFacts& facts, bool) const override { return why_not_retrained(facts); }
  std::vector<TrainedVariant> variants(const VariantOptions& options) const override {
    std::vector<TrainedVariant> all;
    const std::string features = tokenwise_features(options.run);
    const auto add = [&](const std::string& name, const std::string& override) {
      std::vector<std::string> overrides{features};
      if (!override.empty()) overrides.push_back(override);
      for (auto& one : for_each_seed(options, name, overrides)) all.push_back(std::move(one));
    };
    add(kGuidedUniform, uniform_override(options.run));
    add(kGuidedOwn, "");
    add(kGuidedOfRun, "train.guide.run=" + options.run);
    if (const double lambda = guiding_lambda(options); lambda > 0) {
      for (const auto& one : adversaries(options))
        if (one.name == adversary_name(lambda)) all.push_back(one);
      add(kGuidedOfAdversary, "train.guide.run=" + options.run + "/explain/" + adversary_name(lambda));
    }
    return all;
  }
  std::vector<ExplanationRecord> measure(ExplainedBatch& batch, const TestContext& context) const override {
    return measure_variants(batch, context);
  }
  ExplanationResult summarize(const std::vector<ExplanationRecord>& records,
                              const TestSummaryOptions& options) const override {
    ExplanationResult result = card();
    result.counts = counts_of(records);
    std::vector<TrainedGroup> groups;
    for (const auto& [title, name] : {std::pair{"the run's", kGuidedOfRun},
                                      {"equal", kGuidedUniform},
                                      {"its own", kGuidedOwn},
                                      {"an adversary's", kGuidedOfAdversary}})
      if (auto models = names_with(records, std::string(name) + "_"); !models.empty())
        groups.push_back({title, std::move(models)});
    const auto figures = group_figures(records, groups, options);
    result.tables.push_back(table_of_groups("A model without context, by its attention weights", figures,
                                            groups.empty() ? 0 : groups.front().models.size()));
    result.tables.push_back(
        table_of_groups("The run itself", group_figures(records, {{"the model's", {kRunItself}}}, options), 1));
    conclude(result, figures);
    return result;
  }

 private:
  static void conclude(ExplanationResult& result, const std::vector<GroupFigures>& figures) {
    const auto of = [&](const std::string& name) -> const GroupFigures* {
      for (const auto& one : figures)
        if (one.name == name && one.f1.value) return &one;
      return nullptr;
    };
    const GroupFigures *run = of("the run's"), *equal = of("equal"), *own = of("its own");
    if (run == nullptr || equal == nullptr || own == nullptr) {
      result.finding = "No text has finite outputs of all models.";
      return;
    }
    const auto better = [](const GroupFigures& other) { return other.difference.high.value_or(0) < 0; };
    const bool than_equal = better(*equal), than_own = better(*own);
    const bool worse = equal->difference.low.value_or(0) > 0;
    result.figure_name = "F1 less that of equal weights";
    const auto negative = [](const std::optional<double>& x) { return x ? std::optional(-*x) : x; };
    result.figure = {.value = negative(equal->difference.value),
                     .low = negative(equal->difference.high),
                     .high = negative(equal->difference.low)};
    const double largest = -equal->difference.low.value_or(-HUGE_VAL);  // that the run's may be better than equal ones
    result.finding = "Without context, F1 is " + figure(*run->f1.value) + " with the weights of the run, " +
                     figure(*equal->f1.value) + " with equal ones and " + figure(*own->f1.value) +
                     " with its own: the weights of the run are ";
    if (than_equal && than_own) {
      result.verdict = ExplanationVerdict::speaks_for;
      result.finding += "better than both, by intervals that exclude 0, which speaks for them.";
    } else if (than_equal) {
      result.finding += "better than equal ones, but not than what it learns itself, which decides nothing.";
    } else if (worse) {
      result.verdict = ExplanationVerdict::speaks_against;
      result.finding += "worse than equal ones, by an interval that excludes 0, which speaks against them.";
    } else if (largest < kUseful) {
      result.verdict = ExplanationVerdict::speaks_against;
      result.finding += "better than equal ones by less than " + figure(kUseful) +
                        " if at all, by the interval of the difference, which speaks against them.";
    } else {
      result.finding += "not better than equal ones by an interval that excludes 0, but it is too wide to decide.";
    }
  }
};

const Catalogue<ExplanationTest>::Entry guide_test_entry{
    "guide",
    make_part<ExplanationTest, GuideTest>,
    {.formula = "F1 of tanh(W x_t + b) with imposed weights",
     .paper = "Wiegreffe & Pinter, 2019",
     .cost = "4 n + 1 trainings, for n seeds",
     .choose = "whether weights are about tokens rather than states",
     .order = 7}};

}  // namespace
}  // namespace heed
