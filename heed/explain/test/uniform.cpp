// Whether the task needs attention at all (Wiegreffe & Pinter, 2019): the model is trained again with equal weights,
// 1 / (number of tokens), for each seed. Where it is as good, the debate about its weights does not apply: what a text
// is classified by is in the states of its tokens, whatever their weights are.

#include "heed/explain/by_class.h"
#include "heed/explain/retrained.h"
#include "heed/explain/side_by_side.h"

namespace heed {
namespace {

constexpr const char* kEqualWeights = "uniform_";

class UniformTest final : public ExplanationTest {
 public:
  explicit UniformTest(const Options&) {}

  ExplanationResult card() const override {
    return {.title = "Trained with equal weights",
            .paper = "Wiegreffe & Pinter, 2019",
            .means =
                "How much worse the model is when it is trained with equal weights for all tokens: without a drop "
                "the task does not need attention, and the debate does not apply.",
            .means_not =
                "A drop says that the weights are of use, not that they explain: it is the condition under "
                "which the other tests have something to ask."};
  }
  std::string why_not(const ExplainedFacts& facts, bool) const override { return why_not_retrained(facts); }
  std::vector<TrainedVariant> variants(const VariantOptions& options) const override {
    auto all = other_seeds(options);
    for (auto& one : for_each_seed(options, "uniform", {uniform_override(options.run)})) all.push_back(std::move(one));
    return all;
  }
  std::vector<ExplanationRecord> measure(ExplainedBatch& batch, const TestContext& context) const override {
    return measure_variants(batch, context);
  }
  ExplanationResult summarize(const std::vector<ExplanationRecord>& records,
                              const TestSummaryOptions& options) const override {
    ExplanationResult result = card();
    result.counts = counts_of(records);
    const auto own = run_and_seeds(records), uniform = names_with(records, kEqualWeights);
    const auto figures = group_figures(records, {{"equal weights", uniform}, {"the model's", own}}, options);
    result.tables.push_back(table_of_groups("With its own weights and with equal ones", figures, own.size()));
    const GroupFigures &equal = figures.front(), &model = figures.back();
    if (!model.difference.value) {
      result.finding = "No text has finite outputs of all models.";
      return result;
    }
    const std::string compared = "F1 is " + figure(*model.f1.value) + " with the model's weights and " +
                                 figure(*equal.f1.value) + " with equal ones, a difference of " +
                                 figure(model.difference);
    result.figure_name = "F1 less that of equal weights";
    result.figure = model.difference;
    if (model.difference.low.value_or(0) > 0)
      result.finding = compared + ": attention is of use in this task, so it can be asked whether it explains.";
    else if (model.difference.high.value_or(kUseful) < kUseful)
      result.finding = compared + ", by its whole interval less than " + figure(kUseful) +
                       ": this model does the task as well without weights of its own, so there may be nothing for "
                       "them to explain.";
    else
      result.finding = compared + ", too wide an interval to tell whether the task needs attention.";
    return result;
  }
};

const Catalogue<ExplanationTest>::Entry uniform_test_entry{
    "uniform",
    make_part<ExplanationTest, UniformTest>,
    {.formula = "F1(a) - F1(a_t = 1/T, trained)",
     .paper = "Wiegreffe & Pinter, 2019",
     .cost = "2 n - 1 trainings, for n seeds",
     .choose = "before the others of that paper: whether the task needs attention",
     .order = 5}};

}  // namespace
}  // namespace heed
