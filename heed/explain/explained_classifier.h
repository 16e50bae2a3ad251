// A classifier of one text as a model that is explained.
//
// The weights are those of the last attention call over the tokens of the text, the mean over queries, heads and
// features; of a document the weight of a word times that of its sentence. Other weights stand in for those of this
// call, and of the call over sentences:
//
//   word in its sentence   r_s a_t / sum_s a        r_s: what the model's own weights in the sentence sum to; 1 of
//   softmax sentence               sum_s a / r_s            sum_s: over the words of the sentence
//
// so that the model's own weights give its own outputs, unless it has several heads, features or queries whose weights
// differ. A sentence without weight keeps the model's weights inside.

#pragma once

#include <memory>
#include <string>

#include "heed/explain/explained.h"
#include "heed/models/classify/classifier.h"

namespace heed {

/// texts: raw, as heed classify reads them; their tokens and words are filled in here.
struct ClassifiedText {
  std::string text{};
  ExplainedText explained{};
};

std::unique_ptr<ExplainedModel> explained_classifier(const std::string& run, Classifier classifier,
                                                     std::vector<ClassifiedText> texts);

/// See load_explained().
std::unique_ptr<ExplainedModel> load_explained_classifier(const std::string& run, const ExplainedSet& set,
                                                          at::Device device);

}  // namespace heed
