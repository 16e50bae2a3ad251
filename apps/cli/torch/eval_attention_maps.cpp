#include "apps/cli/torch/eval_attention_maps.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/models/classify/text_weights.h"

namespace heed::cli {
namespace {

WordMap mean_of_rows(const WeightRows& rows) {
  WordMap mean(rows.empty() ? 0 : rows.front().size(), 0);
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) mean[i] += row[i] / static_cast<double>(rows.size());
  return mean;
}

/// The steps that attend to words of the column, in order.
std::vector<std::string> steps_of(const std::vector<TextWeights>& all, const std::string& column) {
  std::vector<std::string> steps;
  for (const auto& one : all)
    if (one.column == column && !one.sentences && std::find(steps.begin(), steps.end(), one.step) == steps.end())
      steps.push_back(one.step);
  return steps;
}

/// The weights of one step; those of its last hop if hops share it.
WordMap map_of_step(const std::vector<TextWeights>& all, const std::string& column, const std::string& step) {
  WordMap map;
  for (const auto& one : all) {
    if (one.column != column || one.step != step || one.sentences) continue;
    if (one.sentence <= 0) map.clear();
    for (const double weight : mean_of_rows(one.weights)) map.push_back(weight);
  }
  return map;
}

/// The weights of each hop, and of each query that is no word, of a step of a text that is no document.
std::vector<WordMap> queries_of_step(const std::vector<TextWeights>& all, const std::string& column,
                                     const std::string& step) {
  std::vector<WordMap> maps;
  for (const auto& one : all) {
    if (one.column != column || one.step != step || one.sentences || one.sentence >= 0) continue;
    if (one.queries.empty())
      maps.insert(maps.end(), one.weights.begin(), one.weights.end());
    else
      maps.push_back(mean_of_rows(one.weights));
  }
  return maps;
}

/// Words that no token stands for.
int64_t words_without_tokens(const std::vector<Segmentation>& sentences) {
  int64_t missing = 0;
  for (const auto& sentence : sentences) {
    std::vector<bool> read(sentence.words.size(), false);
    for (const int64_t word : sentence.word)
      if (word >= 0) read[static_cast<size_t>(word)] = true;
    missing += std::count(read.begin(), read.end(), false);
  }
  return missing;
}

void check_finite(const WordMap& map, const std::string& where) {
  check(std::all_of(map.begin(), map.end(), [](double weight) { return std::isfinite(weight); }), "eval: ", where,
        ": got attention weights that are NaN or infinite, expected finite ones; the model's parameters are damaged, ",
        "or its training diverged");
}

}  // namespace

size_t word_count(const Classifier& classifier, const std::string& text) {
  TextReader whole = classifier.reader();
  whole.max_length = 0;
  size_t words = 0;
  for (const auto& sentence : whole.read(text).sentences) words += sentence.words.size();
  return words;
}

WordMaps word_maps(Classifier& classifier, const std::string& text, size_t words, const std::string& where,
                   bool alone) {
  const ReadText read = classifier.reader().read(text);
  size_t read_words = 0;
  for (const auto& sentence : read.sentences) read_words += sentence.words.size();
  WordMaps maps;
  maps.words_not_read = static_cast<int64_t>(words - read_words) + words_without_tokens(read.sentences);
  if (!classifier.model().attention().attends()) {
    maps.weights.assign(words, 1);
    return maps;
  }
  const std::string& column = classifier.reader().columns.front();
  const auto all = text_weights(classifier, {text});
  const auto steps = steps_of(all, column);
  check(!steps.empty() || read_words == 0, "eval: ", where, ": got no weights of words, expected a model whose ",
        "attention is to words");
  const auto whole = [&](WordMap map) {
    map.resize(words, 0);
    check_finite(map, where);
    return map;
  };
  maps.weights = whole(word_weights(all, column));
  if (alone || steps.empty()) return maps;
  if (steps.size() > 1)
    for (const auto& step : steps) maps.calls.push_back(whole(map_of_step(all, column, step)));
  auto queries = queries_of_step(all, column, steps.back());
  if (queries.size() > 1)
    for (auto& query : queries) maps.queries.push_back(whole(std::move(query)));
  int64_t heads = 1;
  for (const auto& one : all)
    if (one.column == column && one.step == steps.back()) heads = one.heads;
  for (int64_t head = 1; heads > 1 && head <= heads; ++head)
    maps.heads.push_back(whole(map_of_step(text_weights(classifier, {text}, head), column, steps.back())));
  return maps;
}

}  // namespace heed::cli
