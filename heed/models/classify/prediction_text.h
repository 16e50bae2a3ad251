// Predictions as text and as JSON, the same for the program and for the files of a run:
//
//   one      positive<TAB>0.9876
//   several  toxic,insult<TAB>0.91,0.72     the predicted classes; "" where none is
//   number   0.37
//   tokens   0 0 1<TAB>0.99 0.98 0.87       a class for each word; "?" for a word that was cut

#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "heed/models/classify/classifier.h"

namespace heed {

std::string prediction_text(const Classifier& classifier, const Prediction& prediction);
/// {"label": "positive", "probability": 0.9876, "probabilities": {"negative": 0.0124, ...}} and the like.
nlohmann::ordered_json prediction_json(const Classifier& classifier, const Prediction& prediction);

/// Replaces a file by a line for each example: its prediction, a TAB and its label.
void write_predictions(const std::string& path, const Classifier& classifier,
                       const std::vector<Prediction>& predictions, const std::vector<std::string>& labels);

}  // namespace heed
