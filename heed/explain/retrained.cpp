#include "heed/explain/retrained.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include <ATen/ATen.h>

#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/explain/by_class.h"
#include "heed/explain/measured_text.h"
#include "heed/explain/side_by_side.h"
#include "heed/metrics/distribution_distance.h"
#include "heed/metrics/precision_recall.h"
#include "heed/models/classify/model.h"

namespace heed {
namespace {

using Json = ExplanationRecord;
using Classes = std::vector<int64_t>;
constexpr const char *kGoldClasses = "gold", *kPredicted = "predicted ", *kSeed = "seed_", *kAdversary = "adversary_";

/// The classes that a text is predicted to have; nothing if an output is not finite.
Json predicted(const Tensor& outputs, bool several) {  // [C]
  if (!at::isfinite(outputs).all().item<bool>()) return nullptr;
  if (!several) return Json::array({outputs.argmax().item<int64_t>()});
  Json all = Json::array();
  for (int64_t c = 0; c < outputs.size(0); ++c)
    if (outputs[c].item<float>() >= 0.5F) all.push_back(c);
  return all;
}

void add_predictions(std::vector<ExplanationRecord>& records, const ExplainedBatch& batch, const std::string& name,
                     bool several) {
  const Tensor outputs = batch.outputs.select(1, 0).to(at::kCPU, at::kFloat);
  for (size_t b = 0; b < records.size(); ++b) {
    Json classes = predicted(outputs[static_cast<int64_t>(b)], several);
    if (classes.is_null())
      records[b]["undefined_nan_outputs"] = true;
    else
      records[b][kPredicted + name] = std::move(classes);
  }
}

std::vector<double> normalized_weights(const TokenValues& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  std::vector<double> shares;
  for (const double weight : weights) shares.push_back(weight / sum);
  return shares;
}

/// Counts of F1 and accuracy of some models for a text, side by side: hits, predicted and gold of each class, whether
/// all is right, and 1.
std::vector<double> counts_of_text(const ExplanationRecord& record, const std::vector<std::string>& models,
                                   size_t classes) {
  std::vector<double> counts;
  const auto gold = record.at(kGoldClasses).get<Classes>();
  for (const auto& model : models) {
    const auto said = record.at(kPredicted + model).get<Classes>();
    const size_t first = counts.size();
    counts.resize(first + 3 * classes + 2, 0);
    for (const int64_t c : said) {
      counts[first + 3 * static_cast<size_t>(c) + 1] += 1;
      if (std::find(gold.begin(), gold.end(), c) != gold.end()) counts[first + 3 * static_cast<size_t>(c)] += 1;
    }
    for (const int64_t c : gold) counts[first + 3 * static_cast<size_t>(c) + 2] += 1;
    counts[first + 3 * classes] = std::set(said.begin(), said.end()) == std::set(gold.begin(), gold.end()) ? 1 : 0;
    counts[first + 3 * classes + 1] = 1;
  }
  return counts;
}

/// F1 of one model, whose counts begin at `first`.
double f1_of(const std::vector<double>& sum, size_t first, size_t classes, bool several) {
  std::vector<HitCounts> counts;
  for (size_t c = 0; c < classes; ++c)
    counts.push_back({.hits = std::llround(sum[first + 3 * c]),
                      .predicted = std::llround(sum[first + 3 * c + 1]),
                      .gold = std::llround(sum[first + 3 * c + 2])});
  return (several ? micro_average(counts) : macro_average(counts)).f1;
}

std::vector<double> each_f1(const std::vector<double>& sum, size_t classes, bool several) {
  std::vector<double> all;
  for (size_t first = 0; first < sum.size(); first += 3 * classes + 2)
    all.push_back(f1_of(sum, first, classes, several));
  return all;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(values.size());
}

ExplanationCell cell_of(double value, const Interval& interval) {
  if (!std::isfinite(value)) return {.text = "-"};
  ExplanationCell cell{.value = value};
  if (std::isfinite(interval.low) && std::isfinite(interval.high)) {
    cell.low = interval.low;
    cell.high = interval.high;
  }
  return cell;
}

}  // namespace

std::string why_not_retrained(const ExplainedFacts& facts) {
  if (facts.task != "classify") return "its models are trained for classifiers alone";
  if (facts.number) return "its figures are those of classes, and the model predicts a number";
  if (!facts.attends) return "the model has no weights of tokens";
  return facts.mechanism.find("+ uniform") == std::string::npos ? "" : "the weights of the model are equal already";
}

std::vector<int64_t> seeds_of(const VariantOptions& options) {
  std::vector<int64_t> seeds;
  for (int64_t i = 0; i < std::max<int64_t>(1, options.seeds); ++i) seeds.push_back(options.run_seed + i);
  return seeds;
}

std::vector<TrainedVariant> other_seeds(const VariantOptions& options) {
  std::vector<TrainedVariant> all;
  for (const int64_t seed : seeds_of(options))
    if (seed != options.run_seed) all.push_back({kSeed + std::to_string(seed), {"train.seed=" + std::to_string(seed)}});
  return all;
}

std::string lambda_text(double lambda) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), lambda, std::chars_format::fixed);
  return {text.data(), end.ptr};
}

std::string adversary_name(double lambda) {
  return kAdversary + lambda_text(lambda);
}

std::vector<TrainedVariant> adversaries(const VariantOptions& options) {
  std::vector<TrainedVariant> all;
  for (const double lambda : options.lambdas)
    all.push_back({adversary_name(lambda),
                   {"train.adversary.run=" + options.run, "train.adversary.lambda=" + lambda_text(lambda),
                    "train.seed=" + std::to_string(options.run_seed + 1), "eval.monitor=adversary_loss",
                    "model.embedding.dropout=0", "model.embedding.token_dropout=0", "model.output.dropout=0"}});
  return all;
}

std::vector<TrainedVariant> for_each_seed(const VariantOptions& options, const std::string& name,
                                          const std::vector<std::string>& overrides) {
  std::vector<TrainedVariant> all;
  for (const int64_t seed : seeds_of(options)) {
    TrainedVariant one{name + "_" + kSeed + std::to_string(seed), overrides};
    one.overrides.push_back("train.seed=" + std::to_string(seed));
    all.push_back(std::move(one));
  }
  return all;
}

std::string uniform_override(const std::string& run) {
  const std::string uniform = "model.attention.align=uniform", mean = "model.attention=mean";
  const std::string recipe = run + "/recipe.yaml";
  if (!exists(recipe)) return uniform;
  try {
    const Settings settings = read_recipe(recipe, {uniform});
    read_classification(settings.at("model"), {.documents = settings.at("data").text("sentences", "none") != "none"});
    return uniform;
  } catch (const Error&) {
    return mean;
  }
}

std::vector<ExplanationRecord> measure_variants(ExplainedBatch& batch, const TestContext& context, VisitVariant visit) {
  const at::NoGradGuard no_gradients;
  const ExplainedFacts& facts = context.model->facts();
  std::vector<ExplanationRecord> records;
  const auto texts = measured_texts(batch);
  for (size_t b = 0; b < texts.size(); ++b) {
    records.push_back(text_record(batch, context, static_cast<int64_t>(b), texts[b]));
    records.back()[kGoldClasses] = context.model->texts()[batch.items[b]].gold;
  }
  add_predictions(records, batch, kRunItself, facts.several);
  for (const auto& [name, model] : context.variants) {
    const auto variant = model->read(batch.items);
    add_predictions(records, *variant, name, facts.several);
    if (visit != nullptr) visit(batch, name, *variant, context, records);
  }
  return records;
}

void add_weight_distances(ExplainedBatch& batch, const std::string& name, ExplainedBatch& variant,
                          const TestContext& context, std::vector<ExplanationRecord>& records) {
  const auto own = measured_texts(batch), theirs = measured_texts(variant);
  const Tensor rows = at::arange(batch.size(), batch.keep.options().dtype(at::kLong));
  const Tensor distances =
      output_distances(batch, context.model->facts(), rows, variant.outputs.to(batch.outputs.device())).contiguous();
  for (size_t b = 0; b < records.size(); ++b) {
    std::string reason = no_distribution(own[b], 0);
    if (reason.empty()) reason = no_distribution(theirs[b], 0);
    if (reason.empty() && own[b].slots.size() != theirs[b].slots.size()) reason = "other_tokens";
    if (!reason.empty()) {
      records[b]["undefined_" + reason] = true;
      continue;
    }
    const TokenValues &weights = own[b].weights.front(), &other = theirs[b].weights.front();
    records[b]["max_weight"] = max_weight(weights);
    records[b]["jsd " + name] = rounded(jensen_shannon(normalized_weights(weights), normalized_weights(other)));
    records[b]["tvd " + name] = rounded(distances[static_cast<int64_t>(b)][0].item<double>());
    if (!records[b].contains(std::string("weights ") + kRunItself))
      add_map(records[b], std::string("weights ") + kRunItself, weights);
    add_map(records[b], "weights " + name, other);
  }
}

std::vector<std::string> names_with(const std::vector<ExplanationRecord>& records, const std::string& prefix) {
  std::vector<std::string> names;
  const std::string key = kPredicted + prefix;
  for (const auto& record : records)
    for (const auto& [name, value] : record.items()) {
      if (!name.starts_with(key)) continue;
      const std::string model = name.substr(std::string(kPredicted).size());
      if (std::find(names.begin(), names.end(), model) == names.end()) names.push_back(model);
    }
  return names;
}

std::vector<std::string> run_and_seeds(const std::vector<ExplanationRecord>& records) {
  auto names = names_with(records, kSeed);
  names.insert(names.begin(), kRunItself);
  return names;
}

std::vector<GroupFigures> group_figures(const std::vector<ExplanationRecord>& records,
                                        const std::vector<TrainedGroup>& groups, const TestSummaryOptions& options) {
  const bool several = options.model->facts().several;
  const size_t classes = options.model->facts().classes.size();
  std::vector<Statistics> f1, accuracy;
  for (size_t g = 0; g < groups.size(); ++g) {
    f1.push_back({{}, [=](const std::vector<double>& sum) { return mean_of(each_f1(sum, classes, several)); }});
    accuracy.push_back({{}, [=](const std::vector<double>& sum) {
                          double right = 0, all = 0;
                          for (size_t first = 0; first < sum.size(); first += 3 * classes + 2) {
                            right += sum[first + 3 * classes];
                            all += sum[first + 3 * classes + 1];
                          }
                          return all > 0 ? right / all : std::numeric_limits<double>::quiet_NaN();
                        }});
  }
  for (const auto& record : records) {
    const bool whole = std::all_of(groups.begin(), groups.end(), [&](const TrainedGroup& group) {
      return std::all_of(group.models.begin(), group.models.end(),
                         [&](const std::string& model) { return record.contains(kPredicted + model); });
    });
    if (!whole) continue;
    for (size_t g = 0; g < groups.size(); ++g) {
      f1[g].rows.push_back(counts_of_text(record, groups[g].models, classes));
      accuracy[g].rows.push_back(f1[g].rows.back());
    }
  }
  std::vector<GroupFigures> figures;
  for (const auto& group : groups)
    figures.push_back({.name = group.name,
                       .f1 = {.text = "-"},
                       .accuracy = {.text = "-"},
                       .deviation = {.text = "-"},
                       .difference = {.text = "-"}});
  if (groups.empty() || f1.front().rows.empty()) return figures;
  const ResamplingOptions resampling{.samples = options.samples, .seed = options.seed};
  const Resampled of_f1 = resampled(f1), of_accuracy = resampled(accuracy);
  const auto scores = scores_of(of_f1), shares = scores_of(of_accuracy);
  const auto samples = bootstrap_scores(of_f1, resampling);
  const auto intervals = bootstrap_intervals(of_accuracy, resampling);
  std::vector<Comparison> compared;
  if (groups.size() > 1) compared = paired_bootstrap_of(of_f1, samples, resampling);
  for (size_t g = 0; g < groups.size(); ++g) {
    figures[g].f1 = cell_of(scores[g], confidence_interval(samples[g]));
    figures[g].accuracy = cell_of(shares[g], intervals[g]);
    std::vector<double> sum(f1[g].rows.front().size(), 0);
    for (const auto& row : f1[g].rows)
      for (size_t i = 0; i < row.size(); ++i) sum[i] += row[i];
    if (groups[g].models.size() > 1) figures[g].deviation = deviation_cell(each_f1(sum, classes, several));
    if (g == 0) continue;
    const Comparison& one = compared[g - 1];
    figures[g].difference = cell_of(one.difference, one.interval.value_or(Interval{}));
    figures[g].p = one.p;
  }
  return figures;
}

ExplanationTable table_of_groups(const std::string& title, const std::vector<GroupFigures>& figures, size_t models) {
  ExplanationTable table{.title = title, .columns = {"attention weights", "F1", "std over seeds", "accuracy"}};
  table.note = "F1 is the mean over classes, the mean over " + std::to_string(models) +
               (models == 1 ? " model. " : " models. ") +
               "Intervals of 95 % by bootstrap over texts: how figures vary with seeds is in the deviation.";
  if (figures.size() > 1) table.columns.push_back("difference of F1 to " + figures.front().name);
  for (const auto& one : figures) {
    ExplanationTable::Row row{one.name, {one.f1, one.deviation, one.accuracy}};
    if (figures.size() > 1) row.cells.push_back(one.difference);
    table.rows.push_back(std::move(row));
  }
  return table;
}

ExplanationCell mean_difference(const std::vector<ExplanationRecord>& records, const std::string& one,
                                const std::string& other, const TestSummaryOptions& options, double factor) {
  std::vector<double> differences;
  for (const auto& record : records)
    if (record.contains(one) && record.contains(other))
      differences.push_back(record.at(one).get<double>() - factor * record.at(other).get<double>());
  return mean_cell(differences, options);
}

}  // namespace heed
