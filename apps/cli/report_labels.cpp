#include "apps/cli/report_labels.h"

#include "apps/cli/screen.h"
#include "apps/cli/table.h"
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxClasses = 20;  // of a confusion matrix that is printed

/// Figures of a report in the order in which they are printed, with their names there.
constexpr std::pair<const char*, const char*> kFigures[]{{"accuracy", "accuracy"},
                                                         {"balanced_accuracy", "balanced accuracy"},
                                                         {"hamming_loss", "Hamming loss"},
                                                         {"matthews", "Matthews"},
                                                         {"calibration_error", "calibration error"},
                                                         {"brier", "Brier"},
                                                         {"mse", "MSE"},
                                                         {"mae", "MAE"},
                                                         {"r2", "R2"},
                                                         {"pearson", "Pearson"},
                                                         {"spearman", "Spearman"},
                                                         {"loss", "loss"}};

std::string number(const OrderedJson& value) {
  return value.is_number() ? fixed(value.get<double>(), 4) : "undefined";
}

void print_averages(std::ostream& out, const OrderedJson& set) {
  std::string text;
  for (const char* average : {"macro", "micro", "weighted", "samples"})
    if (set.contains(average))
      text += (text.empty() ? "" : ", ") + std::string(average) + " " + number(set[average]["f1"]);
  if (!text.empty()) out << "  F1: " << text << '\n';
}

void print_classes(std::ostream& out, const OrderedJson& set) {
  if (!set.contains("classes")) return;
  Table table{{"class", "precision", "recall", "F1", "examples"}, {false, true, true, true, true}, {}};
  for (const auto& one : set["classes"])
    table.rows.push_back({printable(one.value("class", "")), number(one["precision"]), number(one["recall"]),
                          number(one["f1"]), std::to_string(one.value("support", int64_t{0}))});
  print_table(out, table, 0);
}

void print_confusion(std::ostream& out, const OrderedJson& set) {
  if (!set.contains("confusion") || set["classes"].size() > kMaxClasses) return;
  Table table{{"label \\ predicted"}, {false}, {}};
  for (const auto& one : set["classes"]) {
    table.titles.push_back(printable(one.value("class", "")));
    table.right.push_back(true);
  }
  for (size_t gold = 0; gold < set["classes"].size(); ++gold) {
    table.rows.push_back({printable(set["classes"][gold].value("class", ""))});
    for (const auto& count : set["confusion"][gold]) table.rows.back().push_back(std::to_string(count.get<int64_t>()));
  }
  print_table(out, table, 0);
}

}  // namespace

void print_labeled_set(std::ostream& out, const std::string& name, const OrderedJson& set) {
  out << name << ": " << set.value("examples", 0) << " examples";
  if (set.contains("words")) out << ", " << set.value("words", int64_t{0}) << " words";
  if (set.contains("words_not_read")) out << " (" << set.value("words_not_read", int64_t{0}) << " were cut)";
  for (const auto& [key, title] : kFigures)
    if (set.contains(key)) out << ", " << title << ' ' << number(set[key]);
  out << '\n';
  print_averages(out, set);
  print_classes(out, set);
  print_confusion(out, set);
}

}  // namespace heed::cli
