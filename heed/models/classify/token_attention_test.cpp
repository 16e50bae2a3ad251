// One weight for each token: imposed on a model, they are what it attends with.

#include "heed/models/classify/token_attention.h"

#include <gtest/gtest.h>

#include "heed/data/testing.h"
#include "heed/models/classify/testing_classifier.h"

namespace heed::testing {
namespace {

const std::vector<std::vector<std::string>> kReadTexts{{"the film was good"}, {"no"}, {"bad end\tgood soup was"}};

Tensor weights_of(Classifier& classifier, const TextBatch& batch, const Call& call = {}) {
  const TokenAttention attention(classifier.model(), "train.guide");
  return attention.weights(classifier.model().pool(batch, call, TokenAttention::outputs()), batch);
}

// Where there is one weight for each token in the model as well, its own weights change nothing.
TEST(ImposedWeights, ChangeNothingIfTheyAreTheModelsOwn) {
  const at::NoGradGuard no_grad;
  for (const SmallClassifier& small :
       {SmallClassifier{}, SmallClassifier{.model = "attention: additive + sparsemax"},
        SmallClassifier{.model = "attention: additive + sigmoid"},
        SmallClassifier{.model = "features: {kind: transformer, num_layers: 1}"},
        SmallClassifier{.model = "attention: {preset: yang_2016}", .sentences = "tab"}}) {
    Classifier classifier = small_classifier(small);
    const TextBatch batch = batch_of(classifier, kReadTexts);
    Call call;
    const TokenAttention attention(classifier.model(), "train.guide");
    call.replace_weights = attention.imposed(weights_of(classifier, batch));
    const Tensor plain = classifier.model().predict(classifier.model().pool(batch)),
                 imposed = classifier.model().predict(classifier.model().pool(batch, call));
    EXPECT_LT((plain - imposed).abs().max().item<double>(), 1e-5) << small.model;
  }
}

TEST(ImposedWeights, AreThoseOfEveryHeadChannelAndQuery) {
  const at::NoGradGuard no_grad;
  for (const SmallClassifier& small :
       {SmallClassifier{.model = "attention: {mechanism: additive + softmax, num_heads: 2}"},
        SmallClassifier{.model = "attention: {mechanism: 'additive + softmax, multi'}"},
        SmallClassifier{.model = "attention: {structure: multi_hop(hops=2)}"},
        SmallClassifier{.model = "attention: {structure: self_attentive(features)}"},
        SmallClassifier{.model = "attention: {preset: yang_2016}", .sentences = "tab"}}) {
    Classifier classifier = small_classifier(small);
    const TextBatch batch = batch_of(classifier, kReadTexts);
    const Tensor keep = batch.columns.front().keep.to(at::kFloat);
    const Tensor drawn = at::rand(keep.sizes()) * keep;
    const Tensor wanted = drawn / drawn.flatten(1).sum(1).view(keep.dim() == 3 ? std::vector<int64_t>{-1, 1, 1}
                                                                               : std::vector<int64_t>{-1, 1});
    const TokenAttention attention(classifier.model(), "train.guide");
    Call call;
    call.replace_weights = attention.imposed(wanted);
    EXPECT_LT((weights_of(classifier, batch, call) - wanted).abs().max().item<double>(), 1e-6) << small.model;
    EXPECT_GT((weights_of(classifier, batch) - wanted).abs().max().item<double>(), 1e-2) << small.model;
  }
}

TEST(ImposedWeights, OfOtherTextsAreRefused) {
  Classifier classifier = small_classifier({});
  const TextBatch batch = batch_of(classifier, kReadTexts);
  const TokenAttention attention(classifier.model(), "train.guide");
  Call call;
  call.replace_weights = attention.imposed(at::ones({2, 4}));
  EXPECT_TRUE(says(error_of([&] { classifier.model().pool(batch, call); }), {"got weights of 2 times 4 keys"}));
}

TEST(TokenAttention, NeedsAWeightForEachToken) {
  const auto said = [](const SmallClassifier& small) {
    Classifier classifier = small_classifier(small);
    return error_of([&] { TokenAttention(classifier.model(), "train.guide"); });
  };
  EXPECT_TRUE(says(said({.model = "attention: mean"}), {"train.guide is given, but model.attention is mean"}));
}

}  // namespace
}  // namespace heed::testing
