// Figures of a cell over its seeds, and which figure of a recipe is its quality.

#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace heed::cli {

/// A metric of results.json: "test accuracy".
struct Figure {
  std::string set, key;  // "test", "accuracy"
  bool higher_is_better = true;
  bool share = false;  // shown in percent
  int digits = 2;      // after the decimal point
  std::string name() const { return set + " " + key; }
  bool operator==(const Figure&) const = default;
};

/// What a recipe is about, of its results: BLEU of translators; accuracy of labels, F1 of several labels and of words,
/// mean squared error of numbers. On the test set, or on dev if there is none. The others come after it: the same on
/// dev, and the alignment error.
std::vector<Figure> main_figures(const nlohmann::ordered_json& results);

/// Those of attention against gold that the table has, of the figures of a run (attention_gold.h). Their set is
/// "attention".
std::vector<Figure> gold_figures(const nlohmann::ordered_json& figures);

/// "82.94 %", "38.20"
std::string figure_text(const Figure& figure, double value);
/// A difference with its sign: "+0.31", in percentage points for shares.
std::string difference_text(const Figure& figure, double value);
/// "dev accuracy", "test BLEU", "test AER"
std::string figure_title(const Figure& figure);

/// Values of several seeds, as a sample of all seeds.
///
///   deviation^2 = sum (v - mean)^2 / (n - 1)        interval = mean -+ t deviation / sqrt(n),  t: 97.5 % of Student's
///   t
///
/// Deviation and interval are NaN for one seed.
struct SeedFigures {
  std::map<int64_t, double> values{};  // by seed
  double mean = 0, deviation = 0, low = 0, high = 0;
};
SeedFigures seed_figures(const std::map<int64_t, double>& values);
/// The interval within what the figure can be: 0 to 100 for BLEU, at least 0 for a mean squared error. And that of a
/// difference of two such figures: -100 to 100.
SeedFigures bounded(SeedFigures figures, const Figure& figure);
SeedFigures bounded_difference(SeedFigures differences, const Figure& figure);

/// The quantile 0.975 of Student's t distribution; degrees: at least 1.
double student_t(int64_t degrees);

}  // namespace heed::cli
