#include "heed/models/classify/prediction_text.h"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "heed/base/check.h"
#include "heed/base/scalar.h"
#include "heed/data/file.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

std::string probability_text(double p) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", p);
  return text;
}

int64_t best_class(const std::vector<double>& p) {
  return std::max_element(p.begin(), p.end()) - p.begin();
}

}  // namespace

std::string prediction_text(const Classifier& classifier, const Prediction& prediction) {
  const LabelSet& labels = classifier.labels();
  std::vector<std::string> names, probabilities;
  const auto add = [&](const std::vector<double>& p, int64_t c) {
    names.push_back(labels.names[static_cast<size_t>(c)]);
    probabilities.push_back(probability_text(p[static_cast<size_t>(c)]));
  };
  switch (labels.form) {
    case LabelForm::number:
      return written_number(prediction.number);
    case LabelForm::tokens:
      for (const auto& word : prediction.words)
        if (word.empty()) {
          names.emplace_back("?");
          probabilities.emplace_back("?");
        } else {
          add(word, best_class(word));
        }
      return joined(names, " ") + "\t" + joined(probabilities, " ");
    default:
      for (const int64_t c : classifier.classes(prediction)) add(prediction.probabilities, c);
      return joined(names, ",") + "\t" + joined(probabilities, ",");
  }
}

Json prediction_json(const Classifier& classifier, const Prediction& prediction) {
  const LabelSet& labels = classifier.labels();
  Json out;
  if (labels.form == LabelForm::number) return {{"number", prediction.number}};
  if (labels.form == LabelForm::tokens) {
    out["words"] = Json::array();
    for (const auto& word : prediction.words) {
      if (word.empty()) {
        out["words"].push_back(nullptr);
        continue;
      }
      const auto c = static_cast<size_t>(best_class(word));
      out["words"].push_back({{"label", labels.names[c]}, {"probability", word[c]}});
    }
    return out;
  }
  const auto classes = classifier.classes(prediction);
  if (labels.form == LabelForm::one) {
    const auto c = static_cast<size_t>(classes.front());
    out = {{"label", labels.names[c]}, {"probability", prediction.probabilities[c]}};
  } else {
    out["labels"] = Json::array();
    for (const int64_t c : classes) out["labels"].push_back(labels.names[static_cast<size_t>(c)]);
  }
  for (size_t c = 0; c < labels.names.size(); ++c) out["probabilities"][labels.names[c]] = prediction.probabilities[c];
  return out;
}

void write_predictions(const std::string& path, const Classifier& classifier,
                       const std::vector<Prediction>& predictions, const std::vector<std::string>& labels) {
  std::string text;
  for (size_t i = 0; i < predictions.size(); ++i)
    text += prediction_text(classifier, predictions[i]) + "\t" + labels[i] + "\n";
  write_atomically(path, text);
}

}  // namespace heed
