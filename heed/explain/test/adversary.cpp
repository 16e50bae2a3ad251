// Whether another model of the same kind gives the same outputs by other weights (Wiegreffe & Pinter, 2019): an
// adversary is trained on the outputs of the run, with the loss TVD - lambda KL (heed/models/classify/adversary.h), for
// several lambda. Its distances of weights are read next to those of another seed, which chance makes.

#include <algorithm>
#include <cmath>

#include "heed/base/scalar.h"
#include "heed/explain/by_class.h"
#include "heed/explain/retrained.h"
#include "heed/explain/side_by_side.h"

namespace heed {
namespace {

constexpr const char* kAdversaries = "adversary_";
constexpr double kSameOutputs = 1.25;  // times the TVD of another seed: up to that, outputs are called the same
constexpr double kFarAway = 2;         // times the JSD of another seed: from that on, weights are called other ones

class AdversaryTest final : public ExplanationTest {
 public:
  explicit AdversaryTest(const Options&) {}

  ExplanationResult card() const override {
    return {.title = "Trained adversaries",
            .paper = "Wiegreffe & Pinter, 2019",
            .means =
                "How different the weights of a model can be that is trained to give the same outputs: the higher "
                "the curve is at weights that are further away than those of another seed, the more the outputs "
                "depend on these weights.",
            .means_not =
                "An adversary is another model with another encoder: that it exists does not show that the "
                "run does not use its weights, only that the task does not force them."};
  }
  std::string why_not(const ExplainedFacts& facts, bool) const override { return why_not_retrained(facts); }
  std::vector<TrainedVariant> variants(const VariantOptions& options) const override {
    VariantOptions at_least_two = options;
    at_least_two.seeds = std::max<int64_t>(2, options.seeds);
    auto all = other_seeds(at_least_two);
    for (auto& one : adversaries(options)) all.push_back(std::move(one));
    return all;
  }
  std::vector<ExplanationRecord> measure(ExplainedBatch& batch, const TestContext& context) const override {
    auto records = measure_variants(batch, context, add_weight_distances);
    for (auto& record : records)
      for (const char* const distance : {"jsd", "tvd"}) add_seeds(record, distance, context);
    return records;
  }
  ExplanationResult summarize(const std::vector<ExplanationRecord>& records,
                              const TestSummaryOptions& options) const override {
    ExplanationResult result = card();
    result.counts = counts_of(records);
    TextGroup all{.name = "all"};
    for (const auto& record : records) all.records.push_back(&record);
    const auto found = found_of(records, all, options);
    result.tables.push_back(table_of(found));
    result.plots.push_back(curve_of(found));
    result.plots.push_back(violins_of(found, all));
    const auto* const chosen = chosen_of(found, records, options);
    if (chosen != nullptr)
      add_examples(result, all, "jsd " + chosen->name, "JSD of an adversary",
                   {{"weights run", "run"}, {"weights " + chosen->name, chosen->name}}, options);
    result.notes.push_back(
        "Weights are divided by their sum. KL in the loss has 1e-10 inside its logarithms: where "
        "weights of the run are exactly 0, as sparse alignments have them, its size is that of this "
        "number, and lambdas are not comparable with those of other alignments.");
    conclude(result, found, chosen, records, options);
    return result;
  }

 private:
  /// Figures of the other seeds, first, and of each adversary.
  struct Found {
    std::string name{}, title{};
    double lambda = -1;  // -1: of the seeds
    ExplanationCell jsd{}, tvd{}, f1{}, accuracy{};
  };

  /// The mean over other seeds of a distance.
  static void add_seeds(ExplanationRecord& record, const std::string& distance, const TestContext& context) {
    double sum = 0;
    int64_t count = 0;
    for (const auto& [name, model] : context.variants) {
      if (name.starts_with(kAdversaries)) continue;
      const auto found = record.find(distance + " " + name);
      if (found == record.end()) return;
      sum += found->get<double>();
      ++count;
    }
    if (count > 0) record[distance + " seeds"] = rounded(sum / static_cast<double>(count));
  }

  static std::vector<Found> found_of(const std::vector<ExplanationRecord>& records, const TextGroup& all,
                                     const TestSummaryOptions& options) {
    auto adversaries = names_with(records, kAdversaries);
    std::vector<Found> found;
    const auto add = [&](const std::string& name, const std::string& title, double lambda,
                         const std::vector<std::string>& models) {
      const auto figures = group_figures(records, {{title, models}}, options);
      found.push_back({name, title, lambda, mean_cell(numbers_of(all, "jsd " + name), options),
                       mean_cell(numbers_of(all, "tvd " + name), options), figures.front().f1,
                       figures.front().accuracy});
    };
    const auto seeds = run_and_seeds(records);
    add("seeds", "other seeds", -1, {seeds.begin() + 1, seeds.end()});
    for (const auto& name : adversaries) {
      double lambda = 0;
      read_number(name.substr(std::string(kAdversaries).size()), lambda);
      add(name, "lambda = " + lambda_text(lambda), lambda, {name});
    }
    std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.lambda < b.lambda; });
    return found;
  }

  static ExplanationTable table_of(const std::vector<Found>& found) {
    ExplanationTable table{.title = "Distance from the run",
                           .note = "Means over texts. Other seeds are the noise floor.",
                           .columns = {"model", "JSD of weights", "TVD of outputs", "F1", "accuracy"}};
    for (const auto& one : found) table.rows.push_back({one.title, {one.jsd, one.tvd, one.f1, one.accuracy}});
    return table;
  }

  static ExplanationPlot curve_of(const std::vector<Found>& found) {
    ExplanationPlot plot{.kind = ExplanationPlot::Kind::curve,
                         .title = "The same outputs by other weights",
                         .x_name = "mean JSD of weights",
                         .y_name = "mean TVD of outputs"};
    ExplanationPlot::Series adversaries{.name = "adversaries"}, seeds{.name = "other seeds"};
    for (const auto& one : found)
      if (one.jsd.value && one.tvd.value)
        (one.lambda < 0 ? seeds : adversaries).points.emplace_back(*one.jsd.value, *one.tvd.value);
    for (auto* const series : {&adversaries, &seeds}) {
      std::sort(series->points.begin(), series->points.end());
      if (!series->points.empty()) plot.series.push_back(*series);
    }
    return plot;
  }

  static ExplanationPlot violins_of(const std::vector<Found>& found, const TextGroup& all) {
    ExplanationPlot plot{.kind = ExplanationPlot::Kind::violin,
                         .title = "How far the weights of a text are from those of the run",
                         .x_name = "model",
                         .y_name = "JSD of weights"};
    for (const auto& one : found) {
      ExplanationPlot::Series series{.name = one.title};
      for (const double jsd : numbers_of(all, "jsd " + one.name)) series.points.emplace_back(0, jsd);
      plot.series.push_back(std::move(series));
    }
    return plot;
  }

  /// The adversary that comes closest to the outputs of the run, among those whose weights are other ones. Null: there
  /// is none.
  static const Found* chosen_of(const std::vector<Found>& found, const std::vector<ExplanationRecord>& records,
                                const TestSummaryOptions& options) {
    const Found* chosen = nullptr;
    if (found.empty() || !found.front().jsd.value) return nullptr;
    for (const auto& one : found) {
      if (one.lambda <= 0 || !one.jsd.value) continue;
      if (mean_difference(records, "jsd " + one.name, "jsd seeds", options, kFarAway).low.value_or(0) <= 0) continue;
      if (chosen == nullptr || *one.tvd.value < *chosen->tvd.value) chosen = &one;
    }
    return chosen;
  }

  /// Records that have a number.
  static size_t numbers(const std::vector<ExplanationRecord>& records, const std::string& key) {
    return static_cast<size_t>(
        std::count_if(records.begin(), records.end(), [&](const auto& record) { return record.contains(key); }));
  }

  static void conclude(ExplanationResult& result, const std::vector<Found>& found, const Found* chosen,
                       const std::vector<ExplanationRecord>& records, const TestSummaryOptions& options) {
    const bool any = std::any_of(found.begin(), found.end(), [](const Found& one) { return one.lambda > 0; });
    if (found.empty() || !found.front().jsd.value || !any) {
      result.finding = !any ? "No adversary has a lambda above 0." : "No text has weights that can be compared.";
      return;
    }
    const Found& seeds = found.front();
    const std::string floor =
        "Another seed is at a JSD of " + with_interval(seeds.jsd) + " with a TVD of " + with_interval(seeds.tvd);
    if (kFarAway * *seeds.jsd.value > std::log(2.0)) {
      result.finding = floor + ": weights of other seeds are so far away already that no adversary can be twice as " +
                       "far, which decides nothing.";
      return;
    }
    if (chosen == nullptr) {
      result.finding = floor + ": no adversary is twice as far away, whatever its outputs, which decides nothing; a " +
                       "larger lambda (--lambdas) drives weights further apart.";
      return;
    }
    result.figure_name = "TVD of an adversary";
    result.figure = chosen->tvd;
    const auto further = [&](const Found& one) {  // in outputs than another seed, with a margin
      return mean_difference(records, "tvd " + one.name, "tvd seeds", options, kSameOutputs);
    };
    const ExplanationCell more = further(*chosen);
    const auto plain = std::find_if(found.begin(), found.end(), [](const Found& one) { return one.lambda == 0; });
    const bool trained = plain != found.end() && further(*plain).high.value_or(1) <= 0;
    result.finding = floor + ". Of the adversaries at least twice as far away, the closest in outputs (" +
                     chosen->title + ") is at a JSD of " + with_interval(chosen->jsd) + " with a TVD of " +
                     with_interval(chosen->tvd) + ": ";
    if (numbers(records, "jsd seeds") < options.min_texts) {
      result.finding += "too few texts for a verdict.";
    } else if (more.high.value_or(1) <= 0) {
      result.verdict = ExplanationVerdict::speaks_against;
      result.finding +=
          "other weights give outputs no further from the run's than 1.25 times another seed's, which "
          "speaks against the weights.";
    } else if (more.low.value_or(0) <= 0) {
      result.finding += "whether its outputs are as close as another seed's cannot be told, which decides nothing.";
    } else if (!trained) {
      result.finding +=
          "its outputs are further away than another seed's, but no adversary with lambda = 0 shows that "
          "training reaches the outputs at all, which decides nothing.";
    } else {
      result.verdict = ExplanationVerdict::speaks_for;
      result.finding +=
          "other weights cost other outputs (a TVD of more than 1.25 times that of the seed), which "
          "speaks for the weights.";
    }
  }
};

const Catalogue<ExplanationTest>::Entry adversary_test_entry{"adversary",
                                                             make_part<ExplanationTest, AdversaryTest>,
                                                             {.formula = "TVD(y_a, y) and JSD(a_a, a) of adversaries",
                                                              .paper = "Wiegreffe & Pinter, 2019",
                                                              .cost = "a training for each lambda, n - 1 for n seeds",
                                                              .choose = "whether other weights do for the whole model",
                                                              .order = 8}};

}  // namespace
}  // namespace heed
