// The keys of a recipe below data, train and eval that the task classify reads itself.

#pragma once

#include <string>
#include <vector>

#include "heed/data/labeled/labeled_corpus.h"
#include "heed/models/classify/adversary.h"
#include "heed/models/classify/guide.h"
#include "heed/models/classify/labels.h"
#include "heed/models/supervised_attention.h"

namespace heed {

// Figures of the development set that only some runs have.
inline constexpr const char *kAttentionLoss = "attention_loss", *kAdversaryLoss = "adversary_loss";
/// class_weights: inverse to the number of examples.
inline constexpr const char* kBalanced = "balanced";

struct ClassifySettings {
  LabeledOptions data;
  std::string tokenizer = "words";
  int64_t max_length = 512;
  int64_t batch_tokens = 2000, eval_batch_tokens = 8000;
  double label_smoothing = 0, penalty = 0, reward = 0.1, soft_share = 0.5, threshold = 0.5;
  std::vector<std::string> class_weights;
  Supervision supervision;
  GuideOptions guide;
  AdversaryOptions adversary;
  bool deterministic = true;
  std::string monitor;
};

/// Reads and checks them. form: of the labels, by model.output.
ClassifySettings read_classify_settings(const Settings& recipe, LabelForm form);

/// Whether a smaller figure of the development set is a better one.
bool is_better_smaller(const std::string& figure);

}  // namespace heed
