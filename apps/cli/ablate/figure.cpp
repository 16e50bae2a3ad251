#include "apps/cli/ablate/figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "apps/cli/screen.h"
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

bool has_figure(const nlohmann::ordered_json& results, const std::string& set, const std::string& key) {
  return results.contains(set) && results[set].is_object() && results[set].contains(key) &&
         results[set][key].is_number();
}

/// The main metric of a set.
std::string main_key(const nlohmann::ordered_json& report) {
  if (report.contains("bleu")) return "bleu";
  const std::string labels = report.value("labels", "");
  if (report.contains("mse")) return "mse";
  return labels == "one" || !report.contains("f1") ? "accuracy" : "f1";
}

Figure figure_of(const std::string& set, const std::string& key) {
  return {.set = set,
          .key = key,
          .higher_is_better = key != "mse" && key != "aer",
          .share = key == "accuracy" || key == "aer",
          .digits = key == "mse" || key == "f1"          ? 4
                    : set == "attention" && key != "aer" ? 3
                                                         : 2};
}

/// The smallest and the largest value that a figure can have.
std::pair<double, double> range_of(const Figure& figure) {
  const bool correlation = figure.key == "spearman" || figure.key == "partial_spearman";
  const double high = figure.key == "bleu" ? 100 : figure.key == "mse" ? std::numeric_limits<double>::infinity() : 1;
  return {correlation ? -1 : 0, high};
}

SeedFigures cut(SeedFigures figures, double low, double high) {
  figures.low = std::max(figures.low, low);  // NaN stays
  figures.high = std::min(figures.high, high);
  return figures;
}

}  // namespace

std::vector<Figure> main_figures(const nlohmann::ordered_json& results) {
  std::vector<Figure> all;
  for (const std::string set : {"test", "dev"})
    if (results.contains(set) && results[set].is_object())
      if (const auto key = main_key(results[set]); has_figure(results, set, key)) all.push_back(figure_of(set, key));
  for (const std::string set : {"test", "dev"})
    if (has_figure(results, set, "aer")) all.push_back(figure_of(set, "aer"));
  return all;
}

std::vector<Figure> gold_figures(const nlohmann::ordered_json& figures) {
  std::vector<Figure> all;
  for (const std::string key : {"aer", "correctness", "average_precision", "spearman", "partial_spearman"})
    if (figures.contains(key)) all.push_back(figure_of("attention", key));
  return all;
}

std::string figure_text(const Figure& figure, double value) {
  if (!std::isfinite(value)) return "-";
  return figure.share ? fixed(100 * value, figure.digits) + " %" : fixed(value, figure.digits);
}

std::string difference_text(const Figure& figure, double value) {
  if (!std::isfinite(value)) return "-";
  return (value >= 0 ? "+" : "") + fixed(figure.share ? 100 * value : value, figure.digits);
}

std::string figure_title(const Figure& figure) {
  static const std::map<std::string, std::string> kTitles{
      {"bleu", "BLEU"}, {"aer", "AER"}, {"f1", "F1"}, {"mse", "MSE"}};
  const auto title = kTitles.find(figure.key);
  std::string words = title == kTitles.end() ? figure.key : title->second;
  std::replace(words.begin(), words.end(), '_', ' ');
  return figure.set + " " + words;
}

SeedFigures seed_figures(const std::map<int64_t, double>& values) {
  SeedFigures all{.values = values, .mean = kUnknown, .deviation = kUnknown, .low = kUnknown, .high = kUnknown};
  const auto count = static_cast<double>(values.size());
  if (values.empty()) return all;
  double sum = 0, squares = 0;
  for (const auto& [seed, value] : values) sum += value;
  all.mean = sum / count;
  if (values.size() == 1) return all;
  for (const auto& [seed, value] : values) squares += (value - all.mean) * (value - all.mean);
  all.deviation = std::sqrt(squares / (count - 1));
  const double half = student_t(static_cast<int64_t>(values.size()) - 1) * all.deviation / std::sqrt(count);
  all.low = all.mean - half;
  all.high = all.mean + half;
  return all;
}

SeedFigures bounded(SeedFigures figures, const Figure& figure) {
  const auto [low, high] = range_of(figure);
  return cut(std::move(figures), low, high);
}

SeedFigures bounded_difference(SeedFigures differences, const Figure& figure) {
  const auto [low, high] = range_of(figure);
  return cut(std::move(differences), low - high, high - low);
}

double student_t(int64_t degrees) {
  constexpr std::array<double, 5> kFew{12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836};
  if (degrees <= 5) return kFew[static_cast<size_t>(degrees - 1)];
  // Expansion in 1 / degrees around the normal quantile z (Abramowitz & Stegun 26.7.5); off by less than 2e-3 at 6.
  const double z = 1.959963985, n = static_cast<double>(degrees), z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z,
               z9 = z7 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n) +
         (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92160 * n * n * n * n);
}

}  // namespace heed::cli
