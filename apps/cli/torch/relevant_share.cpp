#include "apps/cli/torch/relevant_share.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/models/classify/text_weights.h"

namespace heed::cli {

RelevantShare relevant_share(const std::vector<double>& weights, const std::vector<bool>& relevant) {
  check(weights.size() == relevant.size(), "relevant words: got ", weights.size(), " weights for ", relevant.size(),
        " words, expected one for each; a text may be longer than data.max_length");
  double all = 0, kept = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    all += weights[i];
    if (relevant[i]) kept += weights[i];
  }
  const auto count = static_cast<double>(std::count(relevant.begin(), relevant.end(), true));
  return {.weight = all > 0 ? kept / all : 0,
          .words = relevant.empty() ? 0 : count / static_cast<double>(relevant.size())};
}

RelevantShare relevant_share(Classifier& classifier, const Examples& examples) {
  check(examples.columns.size() == 1 && examples.relevant.size() == examples.size(),
        "relevant words: got examples whose relevant words are not known, expected built-in reviews");
  const bool attends = classifier.model().attention().attends();
  RelevantShare sum;
  double texts = 0;
  for (size_t i = 0; i < examples.size(); ++i) {
    const auto& relevant = examples.relevant[i];
    if (std::find(relevant.begin(), relevant.end(), true) == relevant.end()) continue;
    const auto weights = attends ? word_weights(text_weights(classifier, examples.texts[i]), examples.columns.front())
                                 : std::vector<double>(relevant.size(), 1);
    const RelevantShare one = relevant_share(weights, relevant);
    sum.weight += one.weight;
    sum.words += one.words;
    ++texts;
  }
  return texts == 0 ? sum : RelevantShare{sum.weight / texts, sum.words / texts};
}

}  // namespace heed::cli
