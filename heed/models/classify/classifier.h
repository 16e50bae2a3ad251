// A classifier: texts in, labels with probabilities out. Loaded from a run folder, or a model that is being trained.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/models/classify/model.h"
#include "heed/models/classify/text_reader.h"

namespace heed {

/// What a classifier says of one example.
struct Prediction {
  std::vector<double> probabilities{};       // by class; empty for numbers and for labels of words
  double number = 0;                         // of regression
  std::vector<std::vector<double>> words{};  // [word][class], if each word is labeled; a word that was cut has none

  /// The most probable class; the first of equal ones.
  int64_t best() const;
};

/// Where config.json has the settings of the model of a guide (guide.h).
inline constexpr const char* kGuideInConfig = "guide";

class Classifier {
 public:
  Classifier(std::shared_ptr<ClassificationModel> model, TextReader reader, LabelSet labels);
  /// Loads a run folder of `heed train`. Throws Error if a file is missing or does not fit.
  static Classifier load(const std::string& folder, at::Device device);

  /// texts: [example][column], columns in the order of reader().columns.
  std::vector<Prediction> predict(const std::vector<std::vector<std::string>>& texts, int64_t batch_tokens = 4000);

  /// The classes that are predicted: one; or those at least as probable as the threshold.
  std::vector<int64_t> classes(const Prediction& prediction) const;

  ClassificationModel& model() { return *model_; }
  const std::shared_ptr<ClassificationModel>& shared_model() const { return model_; }
  const TextReader& reader() const { return reader_; }
  const LabelSet& labels() const { return labels_; }
  at::Device device() const { return device_; }

 private:
  std::shared_ptr<ClassificationModel> model_;
  TextReader reader_;
  LabelSet labels_;
  at::Device device_ = at::kCPU;
};

/// The paths of the attention calls for an example, in one line.
std::string described_attention(Classifier& classifier, const std::vector<std::string>& example);

/// The index of the first piece of each word of a text of one sentence, -1 where it was cut or has none.
std::vector<int64_t> first_pieces(const Segmentation& sentence);

}  // namespace heed
