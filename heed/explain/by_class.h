// Figures of texts, for all of them and for those of each predicted class, as the tables of Jain & Wallace have them;
// and plots of a figure against the largest weight of a text.

#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "heed/explain/test.h"

namespace heed {

struct TextGroup {
  std::string name{};  // of the class; "all"
  std::vector<const ExplanationRecord*> records{};
};

/// A group for each predicted class, if there are 2 to 10, and all texts last.
std::vector<TextGroup> groups_of(const std::vector<ExplanationRecord>& records, const ExplainedFacts& facts);

/// The number of a key in each record that has it.
std::vector<double> numbers_of(const TextGroup& group, const std::string& key);

/// A mean, or any score of the numbers, with its interval by bootstrap over texts; a dash if there are none.
ExplanationCell mean_cell(const std::vector<double>& numbers, const TestSummaryOptions& options);
ExplanationCell median_cell(const std::vector<double>& numbers, const TestSummaryOptions& options);
/// The population's, as NumPy has it; without an interval.
ExplanationCell deviation_cell(const std::vector<double>& numbers);
/// How many numbers are above a bound, as a share.
ExplanationCell share_cell(const std::vector<double>& numbers, const std::function<bool(double)>& counted,
                           const TestSummaryOptions& options);
ExplanationCell count_cell(size_t count);

/// One violin for each group but "all", or that alone.
ExplanationPlot violins_by_class(const std::vector<TextGroup>& groups, const std::string& key);
/// Texts by "max_weight": four groups of width .25.
std::vector<TextGroup> groups_by_weight(const TextGroup& all);
/// The key against "max_weight": a violin of each of these groups, and points by class.
ExplanationPlot violins_by_weight(const TextGroup& all, const std::string& key);
ExplanationPlot points_by_weight(const std::vector<TextGroup>& groups, const std::string& key);

/// Texts with the largest and with the smallest number of a key, of those that have all maps and at least four tokens;
/// maps: names of records and of maps. title: "largest tau".
struct MapName {
  std::string key{}, name{};
};
void add_examples(ExplanationResult& result, const TextGroup& all, const std::string& key, const std::string& title,
                  const std::vector<MapName>& maps, const TestSummaryOptions& options);

/// A figure of so many texts: it speaks against the weights if its whole interval is below `low`, for them if all of it
/// is at least `high`; for nothing without an interval, or from fewer texts than options.min_texts.
ExplanationVerdict verdict_of(const ExplanationCell& cell, size_t texts, const TestSummaryOptions& options, double low,
                              double high);
/// "; 7 texts are too few for a verdict" if they are, else "".
std::string too_few(size_t texts, const TestSummaryOptions& options);

/// "0.36 (95 %: 0.34 to 0.38)".
std::string with_interval(const ExplanationCell& cell);

}  // namespace heed
