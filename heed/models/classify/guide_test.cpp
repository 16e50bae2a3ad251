// A guided model attends with the weights of its guide, which is part of it and never trained.

#include "heed/models/classify/guide.h"

#include <gtest/gtest.h>

#include "heed/data/testing.h"
#include "heed/models/classify/testing_classifier.h"

namespace heed::testing {
namespace {

const std::vector<std::vector<std::string>> kGuidedTexts{{"the film was good"}, {"no one"}, {"bad end\tgood soup was"}};

struct Pair {
  Classifier guided, guide;
};

Pair guided_pair(const std::string& model, const std::string& sentences = "none") {
  Pair pair{small_classifier({.model = model, .sentences = sentences}),
            small_classifier({.model = model, .sentences = sentences})};
  const at::NoGradGuard no_grad;
  at::manual_seed(13);
  for (auto& parameter : pair.guide.model().parameters()) parameter.add_(at::randn_like(parameter) * 0.3);
  return pair;
}

Tensor attended(ClassificationModel& model, const TextBatch& batch) {
  const TokenAttention attention(model, "train.guide");
  return attention.weights(model.pool(batch, {}, TokenAttention::outputs()), batch);
}

TEST(Guide, ImposesItsWeights) {
  const at::NoGradGuard no_grad;
  for (const auto& [model, sentences] :
       {std::pair<std::string, std::string>{"features: {kind: tokenwise, dim: 6}, attention: additive + softmax",
                                            "none"},
        {"attention: additive + sparsemax", "none"},
        {"attention: {preset: yang_2016}", "tab"}}) {
    Pair pair = guided_pair(model, sentences);
    const TextBatch batch = batch_of(pair.guided, kGuidedTexts);
    const Tensor own = attended(pair.guided.model(), batch), wanted = attended(pair.guide.model(), batch);
    EXPECT_GT((own - wanted).abs().max().item<double>(), 1e-2) << model;
    const Tensor before = pair.guided.model().predict(pair.guided.model().pool(batch));
    pair.guided.model().set_guide(pair.guide.shared_model());
    EXPECT_LT((attended(pair.guided.model(), batch) - wanted).abs().max().item<double>(), 1e-6) << model;
    EXPECT_TRUE(at::equal(pair.guided.model().guide_weights(batch), wanted));
    EXPECT_GT((pair.guided.model().predict(pair.guided.model().pool(batch)) - before).abs().max().item<double>(), 1e-4);
  }
}

TEST(Guide, IsFrozenAndNeverInTrainingMode) {
  Pair pair = guided_pair("attention: additive + softmax");
  ClassificationModel& model = pair.guided.model();
  const int64_t count = model.parameter_count();
  model.set_guide(pair.guide.shared_model());
  EXPECT_EQ(model.parameter_count(), count);
  model.train();
  EXPECT_TRUE(model.is_training());
  for (const auto& item : model.named_modules()) {
    if (item.key().rfind("guide", 0) == 0) {
      EXPECT_FALSE(item.value()->is_training()) << item.key();
    }
  }
  const TextBatch batch = batch_of(pair.guided, kGuidedTexts);
  model.loss(model.pool(batch), at::tensor({0, 1, 2}, at::kLong), {}).backward();
  bool any = false;
  for (const auto& item : model.named_parameters()) {
    if (item.key().rfind("guide.", 0) == 0) {
      EXPECT_FALSE(item.value().requires_grad() || item.value().grad().defined()) << item.key();
    } else if (item.value().grad().defined()) {
      any = true;
    }
  }
  EXPECT_TRUE(any);
}

TEST(Guide, OfAnotherGranularityIsRefused) {
  Classifier document = small_classifier({.model = "attention: {preset: yang_2016}", .sentences = "tab"}),
             text = small_classifier({.sentences = "tab"}), mean = small_classifier({.model = "attention: mean"}),
             other = small_classifier({});
  EXPECT_TRUE(says(error_of([&] { text.model().set_guide(document.shared_model()); }), {"reads documents"}));
  EXPECT_TRUE(says(error_of([&] { other.model().set_guide(mean.shared_model()); }), {"model.attention is mean"}));
}

}  // namespace
}  // namespace heed::testing
