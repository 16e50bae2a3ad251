// How far weights are from those of the same model with another seed (Wiegreffe & Pinter, 2019): JSD of the weights of
// a text, divided by their sum. It is the noise floor of every other distance of weights: an adversary is one only if
// its weights are further away than chance makes them.

#include "heed/explain/by_class.h"
#include "heed/explain/retrained.h"
#include "heed/explain/side_by_side.h"

namespace heed {
namespace {

class SeedsTest final : public ExplanationTest {
 public:
  explicit SeedsTest(const Options&) {}

  ExplanationResult card() const override {
    return {.title = "Weights of other seeds",
            .paper = "Wiegreffe & Pinter, 2019",
            .means =
                "How far the weights of a text are from those of the same model trained with another seed "
                "(Jensen-Shannon divergence, 0 to 0.69): the noise floor of what adversaries find.",
            .means_not =
                "Weights that differ by seed do not say that no weights explain: each of the models may attend "
                "to what it uses, and use something else."};
  }
  std::string why_not(const ExplainedFacts& facts, bool) const override { return why_not_retrained(facts); }
  std::vector<TrainedVariant> variants(const VariantOptions& options) const override {
    VariantOptions at_least_two = options;
    at_least_two.seeds = std::max<int64_t>(2, options.seeds);
    return other_seeds(at_least_two);
  }
  std::vector<ExplanationRecord> measure(ExplainedBatch& batch, const TestContext& context) const override {
    auto records = measure_variants(batch, context, add_weight_distances);
    for (auto& record : records)
      for (const char* const figure : {"jsd", "tvd"}) add_mean(record, figure, context);
    return records;
  }
  ExplanationResult summarize(const std::vector<ExplanationRecord>& records,
                              const TestSummaryOptions& options) const override {
    ExplanationResult result = card();
    result.counts = counts_of(records);
    const auto names = run_and_seeds(records);
    TextGroup all{.name = "all"};
    for (const auto& record : records) all.records.push_back(&record);
    ExplanationTable each{.title = "Distance from the run", .columns = {"model", "JSD of weights", "TVD of outputs"}};
    for (size_t i = 1; i < names.size(); ++i)
      each.rows.push_back({names[i],
                           {mean_cell(numbers_of(all, "jsd " + names[i]), options),
                            mean_cell(numbers_of(all, "tvd " + names[i]), options)}});
    result.tables.push_back(std::move(each));
    ExplanationTable by_weight{.title = "By the largest weight of a text",
                               .columns = {"largest weight", "texts", "JSD of weights", "median", "TVD of outputs"}};
    for (const auto& bin : groups_by_weight(all)) {
      const auto jsd = numbers_of(bin, "jsd");
      by_weight.rows.push_back({bin.name,
                                {count_cell(jsd.size()), mean_cell(jsd, options), median_cell(jsd, options),
                                 mean_cell(numbers_of(bin, "tvd"), options)}});
    }
    result.tables.push_back(std::move(by_weight));
    const auto figures = group_figures(records, {{"the model's", names}}, options);
    result.tables.push_back(table_of_groups("The models", figures, names.size()));
    ExplanationPlot violins = violins_by_weight(all, "jsd");
    violins.title = "Weights of other seeds";
    violins.x_name = "largest weight of a text";
    violins.y_name = "JSD of weights";
    result.plots.push_back(std::move(violins));
    if (names.size() > 1)
      add_examples(result, all, "jsd", "JSD", {{"weights run", "run"}, {"weights " + names[1], names[1]}}, options);
    const ExplanationCell jsd = mean_cell(numbers_of(all, "jsd"), options),
                          tvd = mean_cell(numbers_of(all, "tvd"), options);
    result.figure_name = "JSD of weights";
    result.figure = jsd;
    result.finding = !jsd.value ? "No text has weights that can be compared."
                                : "Another seed alone moves the weights of a text by a JSD of " + figure(jsd) +
                                      " and its output by a TVD of " + figure(tvd) +
                                      ": smaller distances of weights are noise. By itself this speaks neither for nor "
                                      "against the weights.";
    return result;
  }

 private:
  /// The mean over seeds of a distance.
  static void add_mean(ExplanationRecord& record, const std::string& distance, const TestContext& context) {
    double sum = 0;
    int64_t count = 0;
    for (const auto& [name, model] : context.variants) {
      const auto found = record.find(distance + " " + name);
      if (found == record.end()) return;
      sum += found->get<double>();
      ++count;
    }
    if (count > 0) record[distance] = rounded(sum / static_cast<double>(count));
  }
};

const Catalogue<ExplanationTest>::Entry seeds_test_entry{"seeds",
                                                         make_part<ExplanationTest, SeedsTest>,
                                                         {.formula = "JSD(a, a of another seed)",
                                                          .paper = "Wiegreffe & Pinter, 2019",
                                                          .cost = "n - 1 trainings, for n seeds",
                                                          .choose = "as the noise floor of what adversaries find",
                                                          .order = 6}};

}  // namespace
}  // namespace heed
