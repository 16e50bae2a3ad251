// Small classifiers for tests. They are not trained.

#pragma once

#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "heed/data/recipe.h"
#include "heed/models/classify/classifier.h"

namespace heed::testing {

/// What the tokenizers of small classifiers learn from.
inline const std::vector<std::string> kSeenLines{"the film was good and the end was bad", "a good film . a bad end",
                                                 "was the soup cold or was it hot ?", "no one liked the soup"};

struct SmallClassifier {
  std::string model{};  // the recipe below `model`; embeddings are 8 wide unless it says otherwise
  std::vector<std::string> columns{"text"};
  std::string sentences = "none", tokenizer = "words";
  LabelForm form = LabelForm::one;
  int64_t classes = 3, max_length = 0;
};

inline LabelSet small_labels(const SmallClassifier& small) {
  LabelSet labels{.form = small.form, .mean = 3, .deviation = 2};
  for (int64_t c = 0; c < small.classes && small.form != LabelForm::number; ++c)
    labels.names.push_back("class " + std::to_string(c));
  return labels;
}

inline Classifier small_classifier(const SmallClassifier& small) {
  at::manual_seed(7);
  TextReader reader{.tokenizer = train_tokenizer(small.tokenizer, kSeenLines),
                    .columns = small.columns,
                    .sentences = small.sentences,
                    .max_length = small.max_length};
  const std::string embedding = small.model.find("embedding: {") == std::string::npos ? "embedding: {dim: 8}, " : "";
  const Settings recipe = parse_recipe("model: {" + embedding + small.model + "}", "small.yaml");
  const LabelSet labels = small_labels(small);
  auto model = std::make_shared<ClassificationModel>(
      recipe.at("model"), TextInputs{.columns = small.columns, .documents = small.sentences != "none"},
      reader.tokenizer->size(), labels);
  const at::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) parameter.mul_(2);  // so that weights and predictions differ
  model->eval();
  return {std::move(model), std::move(reader), labels};
}

/// Ids of examples as this classifier reads them.
inline TextBatch batch_of(const Classifier& classifier, const std::vector<std::vector<std::string>>& texts,
                          int64_t rank = 0, int64_t world = 1) {
  Rows rows;
  for (size_t i = 0; i < texts.size(); ++i) rows.push_back(static_cast<int64_t>(i));
  return collate(classifier.reader().read_all(texts), rows, rank, world);
}

}  // namespace heed::testing
