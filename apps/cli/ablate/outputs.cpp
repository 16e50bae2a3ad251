#include "apps/cli/ablate/outputs.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/scalar.h"
#include "heed/data/corpus.h"
#include "heed/data/file.h"
#include "heed/data/recipe.h"
#include "heed/metrics/statistics.h"

namespace heed::cli {
namespace {

struct PredictionLine {
  std::string predicted, label;
};

std::vector<std::string> lines_in(const std::string& path) {
  std::istringstream text(read_file(path));
  std::vector<std::string> all;
  for (std::string line; std::getline(text, line);) all.push_back(line);
  return all;
}

/// Lines of prediction, probability and label.
std::vector<PredictionLine> predictions_in(const std::string& path) {
  std::vector<PredictionLine> all;
  for (const auto& line : lines_in(path)) {
    const size_t first = line.find('\t'), last = line.rfind('\t');
    check(first != std::string::npos, path, ": got line ", all.size() + 1, " without a TAB, expected predictions");
    all.push_back({line.substr(0, first), line.substr(last + 1)});
  }
  return all;
}

Statistics accuracy_statistics(const std::string& path) {
  std::vector<double> right;
  for (const auto& [predicted, label] : predictions_in(path)) right.push_back(predicted == label ? 1 : 0);
  return mean_statistics(right);
}

Statistics error_statistics(const std::string& path) {
  std::vector<double> squares;
  for (const auto& [predicted, label] : predictions_in(path)) {
    double p = 0, gold = 0;
    check(read_number(predicted, p) && read_number(label, gold), path, ": got line ", squares.size() + 1,
          ", expected two numbers");
    squares.push_back((p - gold) * (p - gold));
  }
  return mean_statistics(squares);
}

std::set<std::string> classes_in(const std::string& list) {
  std::set<std::string> all;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t first = word.find_first_not_of(' ');
    if (first != std::string::npos) all.insert(word.substr(first, word.find_last_not_of(' ') - first + 1));
  }
  return all;
}

Statistics f1_statistics(const std::string& path) {
  Statistics all{
      {}, [](const std::vector<double>& sum) { return sum[1] + sum[2] > 0 ? 2 * sum[0] / (sum[1] + sum[2]) : 0; }};
  for (const auto& [predicted, label] : predictions_in(path)) {
    const auto ours = classes_in(predicted), gold = classes_in(label);
    const auto both = std::count_if(ours.begin(), ours.end(), [&](const auto& name) { return gold.count(name) > 0; });
    all.rows.push_back({static_cast<double>(both), static_cast<double>(ours.size()), static_cast<double>(gold.size())});
  }
  return all;
}

BleuOptions bleu_options_of(const std::string& run_folder) {
  const Settings recipe = read_recipe(run_folder + "/recipe.yaml");
  return {.tokenizer = recipe.at("eval").text("tokenize", "13a"),
          .lowercase = recipe.at("data").flag("lowercase", false)};
}

double figure_in_results(const std::string& run_folder, const Figure& figure) {
  const auto results = nlohmann::ordered_json::parse(read_file(run_folder + "/results.json"));
  return results.at(figure.set).at(figure.key).get<double>();
}

double whole_score(const Statistics& statistics) {
  std::vector<double> sum(statistics.rows.empty() ? 0 : statistics.rows.front().size());
  for (const auto& row : statistics.rows)
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += row[i];
  return statistics.score(sum);
}

}  // namespace

const std::vector<std::string>& RunOutputs::references(const std::string& run_folder) {
  if (!references_.empty()) return references_;
  const Corpus corpus = read_corpus(read_corpus_options(read_recipe(run_folder + "/recipe.yaml").at("data")));
  references_ = figure_.set == "test" ? corpus.test.target : corpus.dev.target;
  return references_;
}

Statistics RunOutputs::statistics_of(const std::string& run_folder) {
  const std::string set = run_folder + "/" + figure_.set;
  if (figure_.key == "bleu")
    return bleu_statistics(lines_in(set + ".hypotheses.txt"), {references(run_folder)}, bleu_options_of(run_folder));
  const std::string predictions = set + ".predictions.tsv";
  if (figure_.key == "accuracy") return accuracy_statistics(predictions);
  if (figure_.key == "mse") return error_statistics(predictions);
  return f1_statistics(predictions);
}

Statistics RunOutputs::read(const std::string& run_folder) {
  constexpr double kRounding = 1e-6;
  Statistics all = statistics_of(run_folder);
  check(!all.rows.empty(), run_folder, ": got no outputs of the ", figure_.set, " set, expected some");
  const double found = whole_score(all), reported = figure_in_results(run_folder, figure_);
  check(std::abs(found - reported) <= kRounding * std::max(1.0, std::abs(reported)), run_folder, ": got ",
        figure_.name(), " ", found, " of its outputs, expected ", reported, " of results.json");
  return all;
}

Statistics over_seeds(const std::vector<Statistics>& seeds) {
  check(!seeds.empty(), "ablate: got no seeds, expected at least 1");
  Statistics all{seeds.front().rows, nullptr};
  const size_t width = seeds.front().rows.front().size();
  for (size_t i = 1; i < seeds.size(); ++i) {
    check(seeds[i].rows.size() == all.rows.size(), "ablate: got ", all.rows.size(), " and ", seeds[i].rows.size(),
          " outputs of two seeds, expected equal numbers");
    for (size_t item = 0; item < all.rows.size(); ++item)
      all.rows[item].insert(all.rows[item].end(), seeds[i].rows[item].begin(), seeds[i].rows[item].end());
  }
  all.score = [count = seeds.size(), width, score = seeds.front().score](const std::vector<double>& sum) {
    double total = 0;
    for (size_t i = 0; i < count; ++i) {
      const auto begin = sum.begin() + static_cast<std::ptrdiff_t>(i * width);
      total += score({begin, begin + static_cast<std::ptrdiff_t>(width)});
    }
    return total / static_cast<double>(count);
  };
  return all;
}

}  // namespace heed::cli
