#include "apps/cli/torch/text_maps.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/base/scalar.h"

namespace heed::cli {
namespace {

constexpr int kTextInTitle = 60;  // columns
constexpr const char* kAllCalls = "all";

/// A weight for each word of each text of a model without attention.
std::vector<TextWeights> equal_weights(const Classifier& classifier, const std::vector<std::string>& example) {
  std::vector<TextWeights> all;
  const auto& columns = classifier.reader().columns;
  for (size_t c = 0; c < columns.size(); ++c)
    for (const auto& sentence : classifier.reader().read(example[c]).sentences) {
      const size_t words = sentence.words.size();
      all.push_back({.step = "none", .column = columns[c], .words = sentence.words});
      if (words > 0) all.back().weights.assign(1, std::vector<double>(words, 1 / static_cast<double>(words)));
    }
  return all;
}

/// Names of the calls, in order.
std::vector<std::string> calls_of(const std::vector<TextWeights>& all) {
  std::vector<std::string> names;
  for (const auto& one : all)
    if (std::find(names.begin(), names.end(), one.step) == names.end()) names.push_back(one.step);
  return names;
}

/// For each text, the last call that attends to its words, and the last that attends to its sentences.
std::vector<TextWeights> deciding(const std::vector<TextWeights>& all) {
  std::map<std::pair<std::string, bool>, std::string> last;
  for (const auto& one : all) last[{one.column, one.sentences}] = one.step;
  std::vector<TextWeights> kept;
  for (const auto& one : all)
    if (last[{one.column, one.sentences}] == one.step) kept.push_back(one);
  return kept;
}

/// The mean over queries: of each sentence of a document.
std::vector<double> sentence_weights(const TextWeights& one) {
  std::vector<double> mean(one.words.size(), 0);
  for (const auto& row : one.weights)
    for (size_t i = 0; i < row.size(); ++i) mean[i] += row[i] / static_cast<double>(one.weights.size());
  return mean;
}

class PictureMaker {
 public:
  PictureMaker(Classifier& classifier, const Prediction& prediction, const std::vector<TextWeights>& weights)
      : classifier_(classifier), prediction_(prediction), weights_(weights) {}

  TextPictures made() {
    for (const auto& one : weights_)
      if (one.sentences) of_sentences_[one.column] = &one;
    std::vector<std::vector<std::string>> groups{calls_of(weights_)};  // calls of one picture
    if (!once_each()) {
      groups.clear();
      for (const auto& call : calls_of(weights_)) groups.push_back({call});
    }
    for (const auto& calls : groups) {
      TextMap text{.title = predicted(classifier_, prediction_), .remark = remark_of(joined(calls), weights_.front())};
      for (const auto& call : calls) {
        hop_ = 0;
        for (const auto& one : weights_)
          if (one.step == call) add(one, text);
      }
      if (!text.parts.empty()) pictures_.texts.push_back(std::move(text));
    }
    return std::move(pictures_);
  }

 private:
  /// Whether no text has words with weights of two calls.
  bool once_each() const {
    std::map<std::string, std::string> call;
    for (const auto& one : weights_)
      if (!one.sentences && call.emplace(one.column, one.step).first->second != one.step) return false;
    return true;
  }

  void add(const TextWeights& one, TextMap& text) {
    if (!one.queries.empty() || one.self) return pictures_.maps.push_back(map_of(one));
    if (one.sentences) {
      const bool drawn = std::any_of(weights_.begin(), weights_.end(), [&](const TextWeights& other) {
        return other.column == one.column && other.sentence >= 0 && other.queries.empty() && !other.self;
      });
      if (!drawn) add_sentences(one, text);
      return;
    }
    if (one.sentence <= 0) ++hop_;
    const size_t queries = one.weights.size();
    for (size_t q = 0; q < queries; ++q) {
      text.parts.push_back({.label = label(one, q), .words = one.words, .weights = one.weights[q]});
      const auto found = of_sentences_.find(one.column);
      if (one.sentence < 0 || q > 0 || found == of_sentences_.end()) continue;
      const auto all = sentence_weights(*found->second);
      if (static_cast<size_t>(one.sentence) < all.size())
        text.parts.back().weight = all[static_cast<size_t>(one.sentence)];
    }
    if (queries == 0) text.parts.push_back({.label = label(one, 0), .words = one.words});
  }

  /// Sentences with their weights, if no weights of their words are shown.
  void add_sentences(const TextWeights& one, TextMap& text) {
    const auto all = sentence_weights(one);
    for (size_t s = 0; s < one.words.size(); ++s)
      text.parts.push_back(
          {.label = column_label(one) + std::to_string(s + 1), .words = {one.words[s]}, .weight = all[s]});
  }

  HeatMap map_of(const TextWeights& one) const {
    HeatMap map;
    const std::string head = predicted(classifier_, prediction_);
    map.title = head + (head.empty() ? "" : ": ") + shortened(printable(joined(one.words, " ")), kTextInTitle);
    map.remark = remark_of(one.step, one) + (one.sentence >= 0 ? ", sentence " + std::to_string(one.sentence + 1) : "");
    map.columns = one.words;
    map.weights = one.weights;
    map.column_name = "keys";
    map.row_name = "queries";
    map.rows = one.queries;
    for (size_t i = map.rows.size(); i < one.weights.size(); ++i) map.rows.push_back("query " + std::to_string(i + 1));
    if (prediction_.words.size() == map.rows.size())
      for (size_t i = 0; i < map.rows.size(); ++i) map.rows[i] += class_of_word(i);
    return map;
  }

  std::string class_of_word(size_t word) const {
    const auto& p = prediction_.words[word];
    if (p.empty()) return " ?";
    return " " + classifier_.labels().names[static_cast<size_t>(std::max_element(p.begin(), p.end()) - p.begin())];
  }

  /// one: for its heads.
  std::string remark_of(const std::string& calls, const TextWeights& one) const {
    const Pooling& attention = classifier_.model().attention();
    const std::string name = attention.to_string();
    if (!attention.attends())
      return "no attention: " + std::string(name == "mean" ? "every word has the same weight"
                                                           : "a summary of the features; the equal weights are drawn, "
                                                             "not computed");
    std::string text = name + ", " + calls;
    if (one.heads > 1)
      text += one.head > 0 ? ", head " + std::to_string(one.head) + " of " + std::to_string(one.heads)
                           : ", mean of " + std::to_string(one.heads) + " heads";
    return text;
  }

  std::string column_label(const TextWeights& one) const {
    return classifier_.reader().columns.size() > 1 ? one.column + " " : "";
  }

  /// "premise 3 query 2"; empty if there is nothing to tell apart.
  std::string label(const TextWeights& one, size_t query) const {
    std::vector<std::string> parts;
    if (classifier_.reader().columns.size() > 1) parts.push_back(one.column);
    if (hops(one) > 1) parts.push_back("hop " + std::to_string(hop_));
    if (one.sentence >= 0) parts.push_back(std::to_string(one.sentence + 1));
    if (one.weights.size() > 1) parts.push_back(query_name(one, query));
    return joined(parts, " ");
  }

  /// How often the call runs on this text.
  int64_t hops(const TextWeights& one) const {
    return std::count_if(weights_.begin(), weights_.end(), [&](const TextWeights& other) {
      return other.step == one.step && other.column == one.column && !other.sentences && other.sentence <= 0;
    });
  }

  std::string query_name(const TextWeights& one, size_t query) const {
    const auto& classes = classifier_.labels().names;
    const bool capsules = classifier_.model().attention().to_string().starts_with("capsule");
    if (capsules && classes.size() == one.weights.size()) return classes[query];
    return "query " + std::to_string(query + 1);
  }

  Classifier& classifier_;
  const Prediction& prediction_;
  const std::vector<TextWeights>& weights_;
  std::map<std::string, const TextWeights*> of_sentences_;  // by text
  int64_t hop_ = 0;
  TextPictures pictures_;
};

}  // namespace

std::vector<TextWeights> chosen_weights(Classifier& classifier, const std::vector<std::string>& example,
                                        const std::string& call, int64_t head) {
  const bool attends = classifier.model().attention().attends();
  const auto all = attends ? text_weights(classifier, example, head) : equal_weights(classifier, example);
  if (!attends && head > 1) fail("attend: got head ", head, ", expected 1: the model has no attention");
  if (call.empty()) return deciding(all);
  if (call == kAllCalls) return all;
  const auto names = calls_of(all);
  check(std::find(names.begin(), names.end(), call) != names.end(), "attend: got call '", excerpt(call), "'",
        suggestion(call, names), ", expected ", joined(names), names.empty() ? "" : " or ", kAllCalls);
  std::vector<TextWeights> kept;
  for (const auto& one : all)
    if (one.step == call) kept.push_back(one);
  return kept;
}

nlohmann::ordered_json weights_json(const std::vector<TextWeights>& all) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& one : all) {
    list.push_back({{"step", one.step}, {"text", one.column}});
    if (one.sentence >= 0) list.back()["sentence"] = one.sentence;
    list.back()[one.sentences ? "sentences" : "words"] = one.words;
    if (!one.queries.empty()) list.back()["queries"] = one.queries;
    list.back()["weights"] = one.weights;
  }
  return list;
}

TextPictures pictures_of(Classifier& classifier, const Prediction& prediction,
                         const std::vector<TextWeights>& weights) {
  TextPictures made;
  if (!weights.empty()) made = PictureMaker(classifier, prediction, weights).made();
  if (made.texts.empty() && made.maps.empty())
    made.texts.push_back({.title = predicted(classifier, prediction), .remark = "no words"});
  return made;
}

std::string predicted(const Classifier& classifier, const Prediction& prediction) {
  constexpr int kDigits = 4;
  const LabelSet& labels = classifier.labels();
  if (labels.form == LabelForm::tokens) return "";
  if (labels.form == LabelForm::number) return written_number(prediction.number);
  std::vector<std::string> all;
  for (const int64_t c : classifier.classes(prediction))
    all.push_back(labels.names[static_cast<size_t>(c)] + " " +
                  fixed(prediction.probabilities[static_cast<size_t>(c)], kDigits));
  return all.empty() ? "no class" : joined(all, ", ");
}

}  // namespace heed::cli
