// Figures of several attributions of the same texts, next to each other: means with bootstrap intervals over texts, and
// the difference of attention to each of the others by a paired bootstrap, with Holm's correction over them.
//
// A text that leaves a figure undefined for one attribution is left out of that figure for all of them.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heed/explain/attribution.h"
#include "heed/explain/test.h"
#include "heed/metrics/significance.h"

namespace heed {

/// All of the catalogue, attention first.
std::vector<std::string> attribution_names();

/// Those that the model has, [B, P, T] in double on the CPU.
struct NamedAttribution {
  std::string name{};
  Tensor scores{};
};
std::vector<NamedAttribution> attributions_of(ExplainedBatch& batch, const TestContext& context);

/// Scores of the tokens `slots` at a position; nothing if one is not finite.
std::optional<std::vector<double>> scores_at(const Tensor& scores, int64_t row, int64_t position,
                                             const std::vector<int64_t>& slots);

/// The scores of a map of an example: at least 0, with the sum 1 if there is one.
std::vector<double> shown(std::vector<double> scores);
/// Rounded to six decimals, so that records are small.
double rounded(double value);
std::vector<double> rounded(std::vector<double> values);

/// A figure of all attributions, from statistics of each text: [attribution][text], nothing where it is undefined.
class ComparedFigure {
 public:
  using Statistic = std::optional<std::vector<double>>;
  /// score: of the sum of statistics; names[0] is compared with the others.
  ComparedFigure(std::vector<std::string> names, std::vector<std::vector<Statistic>> texts,
                 const std::function<double(const std::vector<double>&)>& score, const ResamplingOptions& options);
  /// The mean of a number of each text, read from records.
  static ComparedFigure of_means(const std::vector<std::string>& names, const std::vector<ExplanationRecord>& records,
                                 const std::function<std::optional<double>(const ExplanationRecord& one)>& read,
                                 const ResamplingOptions& options);

  int64_t texts() const { return texts_; }
  /// Mean and interval; a text where no text has the figure.
  ExplanationCell cell(const std::string& name) const;
  std::optional<double> mean(const std::string& name) const { return cell(name).value; }

  struct Difference {
    double value = 0, low = 0, high = 0, p = 1, p_holm = 1;  // value: of names[0], less that of the other
    bool above() const { return value > 0 && p_holm < 0.05; }
    bool below() const { return value < 0 && p_holm < 0.05; }
  };
  /// Nothing for names[0] itself, and where there is no figure.
  std::optional<Difference> difference_to(const std::string& name) const;

 private:
  std::vector<std::string> names_;
  std::vector<ExplanationCell> cells_;
  std::vector<std::optional<Difference>> differences_;
  int64_t texts_ = 0;
};

/// record["scores"][name], or nothing.
const ExplanationRecord* scores_of(const ExplanationRecord& record, const std::string& name);
/// Names of attributions that some record has.
std::vector<std::string> measured_attributions(const std::vector<ExplanationRecord>& records);

/// Texts, and how many have each key that begins with "undefined_" or is counted: "counted_<what>".
std::vector<std::pair<std::string, int64_t>> counts_of(const std::vector<ExplanationRecord>& records);

/// A table with a row for each attribution and a column for each figure.
ExplanationTable table_of_means(const std::string& title, const std::vector<std::string>& names,
                                const std::vector<std::pair<std::string, const ComparedFigure*>>& columns);
/// A table with a row for each attribution but the first: its difference to the first and p, for each figure.
ExplanationTable table_of_differences(const std::vector<std::string>& names,
                                      const std::vector<std::pair<std::string, const ComparedFigure*>>& columns);

/// "0.213", and "0.213 (0.190 to 0.235)".
std::string figure(double value);
std::string figure(const ExplanationCell& cell);
/// "p = 0.012", "p < 0.001".
std::string p_value(double p);

}  // namespace heed
