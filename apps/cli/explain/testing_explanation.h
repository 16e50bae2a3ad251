// Findings that are made up, for tests of the report: every kind of table, plot, example and verdict, and texts that
// are hard to show.

#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "heed/data/explanation.h"

namespace heed::cli {

/// Numbers between 0 and 1 that look drawn, the same on every machine.
class MadeUpNumbers {
 public:
  explicit MadeUpNumbers(uint64_t seed) : state_(seed * 2654435761U + 12345) {}
  double next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11U) / 9007199254740992.0;
  }

 private:
  uint64_t state_;
};

inline ExplanationResult made_up_gradients(uint64_t seed) {
  MadeUpNumbers number(seed);
  ExplanationResult result{.test = "gradients", .title = "Weights and gradients", .paper = "Jain & Wallace, 2019"};
  result.means =
      "Kendall's tau of the weights and the size of the gradient at each word: 1 if both order the words alike";
  result.means_not =
      "It does not say that either order is the right one: gradients are an explanation of their own kind.";
  result.verdict = ExplanationVerdict::speaks_for;
  result.finding =
      "Weights and gradients order the words alike: tau 0.412 (0.398 to 0.426), significant in 71 % of texts";
  result.counts = {{"texts", 872}, {"one_token", 3}, {"constant_weights", 0}};
  ExplanationTable table{.title = "Kendall's tau with gradients, by predicted class",
                         .note = "Mean over texts with its 95 % interval.",
                         .columns = {"class", "tau", "deviation", "share with p <= 0.05", "texts"}};
  for (const char* name : {"all", "negative", "positive"}) {
    const double tau = 0.35 + 0.2 * number.next();
    table.rows.push_back({name,
                          {{.value = tau, .low = tau - 0.014, .high = tau + 0.014},
                           {.value = 0.2},
                           {.value = 0.71, .low = 0.68, .high = 0.74},
                           {.value = 872}}});
  }
  result.tables.push_back(table);
  ExplanationPlot scatter{
      ExplanationPlot::Kind::scatter, "Tau and length of the text", "tokens", "tau", {{"texts", {}}}};
  for (int i = 0; i < 872; ++i) {
    const double length = std::floor(2 + 50 * number.next() * number.next());
    scatter.series[0].points.emplace_back(length, 0.4 + (number.next() - 0.5) * (0.3 + 3 / length));
  }
  result.plots.push_back(scatter);
  return result;
}

inline ExplanationResult made_up_permutation(uint64_t seed) {
  MadeUpNumbers number(seed + 1);
  ExplanationResult result{.test = "permutation", .title = "Permuted weights", .paper = "Jain & Wallace, 2019"};
  result.means = "The median change of the output over 100 permutations of the weights.";
  result.means_not = "A small change says that these weights do not matter there, not that the words do not.";
  result.verdict = ExplanationVerdict::speaks_against;
  result.finding = "With weights above 0.5, the output changes by 0.034 in the median.";
  result.counts = {{"texts", 872}, {"one_token", 3}};
  ExplanationPlot violin{ExplanationPlot::Kind::violin,
                         "Change of the output under permuted weights",
                         "largest weight of the text",
                         "median total variation",
                         {}};
  for (const char* bin : {"0 to 0.25", "0.25 to 0.5", "0.5 to 0.75", "0.75 to 1"}) {
    violin.series.push_back({bin, {}});
    for (int i = 0; i < 220; ++i) violin.series.back().points.emplace_back(0, 0.5 * number.next() * number.next());
  }
  violin.series.push_back({"one value alone", {{0, 0.125}, {0, 0.125}}});
  violin.series.push_back({"none", {}});
  result.plots.push_back(violin);
  const std::vector<std::string> words{"a", "gorgeous", ",", "witty", ",", "seductive", "movie", "."};
  const std::vector<double> attention{0.01, 0.52, 0.02, 0.21, 0.01, 0.18, 0.04, 0.01};
  result.examples.push_back({"Changes most: dev.tsv:17, positive 0.98",
                             "The output changes by 0.61 in the median.",
                             words,
                             {{"attention", attention}, {"gradient x input", {0.1, 2.5, 0, -1.2, 0, 1.9, -0.3, 0}}}});
  result.examples.push_back(
      {"Changes least: <script>alert(\"1 & 2\")</script>",
       "Texts that are hard to show.",
       {"<b>", "&amp;", "\"quoted\"", "it's", "坏电影", "🙂👍🏽", "שלום", "\u202Ereversed", "\x01\n", "", " ",
        std::string(10000, 'x'), "\xff\xfe", "e" + std::string(1, '\xcc') + "\x81"},
       {{"attention", std::vector<double>(14, 1.0 / 14)},
        {"not finite",
         {std::nan(""), std::numeric_limits<double>::infinity(), 1, 0.5, 0, -0.5, -1, 0, 0, 0.1, 0.2, 0.3, 0.4, 0.5}},
        {"zero", std::vector<double>(14, 0)}}});
  return result;
}

inline ExplanationResult made_up_erasure(uint64_t seed) {
  MadeUpNumbers number(seed + 2);
  ExplanationResult result{.test = "erasure", .title = "Erasure", .paper = "DeYoung et al., 2020"};
  result.means = "How much the probability of the predicted class falls without the words of the largest weights.";
  result.means_not = "Texts without some of their words are none that the model was trained on.";
  result.verdict = ExplanationVerdict::neither;
  result.finding = "Attention is as comprehensive as gradients, and more than random weights.";
  result.counts = {{"texts", 25000}};
  ExplanationTable table{.title = "Attention and baselines",
                         .note = "",
                         .columns = {"weights", "comprehensiveness", "sufficiency", "area over k, comprehensiveness",
                                     "area over k, sufficiency", "decisions that flip"}};
  for (const char* name : {"attention", "gradient x input", "integrated gradients", "rollout", "attention x value norm",
                           "random", "uniform"}) {
    ExplanationTable::Row row{name, {}};
    for (int i = 0; i < 5; ++i) {
      const double value = number.next();
      if (std::string(name) == "rollout")
        row.cells.push_back(i == 0 ? ExplanationCell{.text = "no layers"} : ExplanationCell{});
      else
        row.cells.push_back({.value = value, .low = value - 0.02, .high = value + 0.02});
    }
    row.cells.back() = {.value = 0.00003};
    table.rows.push_back(row);
  }
  result.tables.push_back(table);
  ExplanationPlot curve{ExplanationPlot::Kind::curve,
                        "Probability as words are removed",
                        "share of words removed",
                        "probability of the predicted class",
                        {}};
  for (const char* name : {"attention", "gradient x input", "integrated gradients", "random"}) {
    curve.series.push_back({name, {}});
    const double fall = 0.5 + number.next();
    for (const double share : {0.5, 0.0, 0.01, 0.05, 0.1, 0.2})
      curve.series.back().points.emplace_back(share, std::exp(-fall * share));
  }
  result.plots.push_back(curve);
  ExplanationPlot scatter{ExplanationPlot::Kind::scatter,
                          "Comprehensiveness and largest weight",
                          "largest weight",
                          "comprehensiveness",
                          {{"negative", {}}, {"positive", {}}}};
  for (int i = 0; i < 25000; ++i) {
    const double x = number.next();
    scatter.series[static_cast<size_t>(i % 2)].points.emplace_back(x, x * number.next() * (i % 2 == 0 ? 1 : 0.6));
  }
  result.plots.push_back(scatter);
  result.notes = {"Words are removed, not replaced."};
  std::vector<std::string> tokens;
  std::vector<double> weights;
  for (int i = 0; i < 1234; ++i) {
    tokens.push_back("word" + std::to_string(i));
    weights.push_back(number.next() * number.next() * number.next());
  }
  result.examples.push_back({"Least comprehensive", "A long text.", tokens, {{"attention", weights}}});
  return result;
}

/// One run under four tests: for, against, neither and not run.
inline Explanation made_up_explanation(const std::string& run, const std::string& mechanism = "additive + softmax",
                                       uint64_t seed = 1) {
  Explanation all{run, "classify", mechanism, "dev", 872, {}};
  all.facts = {{"command", "heed explain " + run + " --tests all --note '<i>&'"},
               {"version", "0.2.0"},
               {"commit", "0123456789abcdef0123456789abcdef01234567"},
               {"seed", std::to_string(seed)}};
  all.results = {made_up_gradients(seed), made_up_permutation(seed), made_up_erasure(seed)};
  all.results.push_back({.test = "plausibility",
                         .title = "Agreement with people",
                         .paper = "DeYoung et al., 2020",
                         .means = "How well the largest weights are on words that people marked.",
                         .means_not = "Plausible is not faithful.",
                         .not_run = "no rationales are given; name them by --rationales"});
  return all;
}

}  // namespace heed::cli
