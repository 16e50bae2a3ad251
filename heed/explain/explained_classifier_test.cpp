#include "heed/explain/explained_classifier.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/autograd.h>

#include "heed/models/classify/testing_classifier.h"

namespace heed {
namespace {

using testing::small_classifier;
using testing::SmallClassifier;

const std::vector<std::string> kTexts{"the film was good and the end was bad", "no one liked the soup", "soup",
                                      "unknownword film"};
const std::vector<std::string> kDocuments{"the film was good\tthe end was bad\tno one liked it", "soup was hot",
                                          "a film\tend"};

SmallClassifier plain(const std::string& attention, const std::string& features = "{kind: recurrent, dim: 8}") {
  return {.model = "features: " + features + ", attention: " + attention};
}
SmallClassifier document(const std::string& attention) {
  return {.model = "features: {kind: recurrent, dim: 8}, attention: " + attention, .sentences = "tab"};
}

std::unique_ptr<ExplainedModel> model_of(const SmallClassifier& small) {
  std::vector<ClassifiedText> texts;
  for (const auto& text : small.sentences == "none" ? kTexts : kDocuments) texts.push_back({.text = text});
  return explained_classifier("runs/small", small_classifier(small), std::move(texts));
}

Tensor all_rows(const ExplainedBatch& batch) {
  return at::arange(batch.size(), at::kLong);
}

std::vector<size_t> all_items(const ExplainedModel& model) {
  std::vector<size_t> items(model.texts().size());
  for (size_t i = 0; i < items.size(); ++i) items[i] = i;
  return items;
}

/// Models whose one weight for each token is all that there is.
const std::vector<SmallClassifier> kExact{plain("additive + softmax"),
                                          plain("self_attentive + sparsemax"),
                                          plain("additive + sigmoid"),
                                          plain("{structure: multi_hop(hops=2), mechanism: additive + softmax}"),
                                          plain("mean"),
                                          document("{structure: hierarchical, align: softmax}"),
                                          document("{structure: hierarchical, align: sparsemax}"),
                                          document("{structure: hierarchical, align: sigmoid}")};
/// Models with more weights than that.
const std::vector<SmallClassifier> kOthers{
    plain("{mechanism: additive + softmax, dimensionality: multi}"),
    plain("{mechanism: additive + softmax, num_heads: 2}"), plain("{structure: self_attentive(features)}"),
    plain("fixed"), plain("additive + softmax", "{kind: transformer, num_layers: 2, num_heads: 2}")};

TEST(ExplainedClassifier, OwnWeightsGiveOwnOutputs) {
  for (const auto& small : kExact) {
    const auto model = model_of(small);
    const auto batch = model->read(all_items(*model));
    EXPECT_TRUE(at::allclose(batch->outputs_with(all_rows(*batch), batch->weights), batch->outputs, 1e-5, 1e-6))
        << small.model;
  }
}

TEST(ExplainedClassifier, EveryModelHasFiniteWeightsAndDistributions) {
  auto all = kExact;
  all.insert(all.end(), kOthers.begin(), kOthers.end());
  for (const auto& small : all) {
    const auto model = model_of(small);
    const auto batch = model->read(all_items(*model));
    EXPECT_TRUE(at::allclose(batch->outputs.sum(-1), at::ones({batch->size(), 1}), 1e-5, 1e-5)) << small.model;
    EXPECT_TRUE(at::isfinite(batch->weights).all().item<bool>()) << small.model;
    EXPECT_EQ(batch->weights.squeeze(1).masked_select(batch->keep.logical_not()).abs().sum().item<double>(), 0);
    EXPECT_GT(batch->value_norms().masked_select(batch->keep).min().item<double>(), 0) << small.model;
    for (int64_t b = 0; b < batch->size(); ++b)
      EXPECT_EQ(batch->keep[b].sum().item<int64_t>(), std::ssize(model->texts()[static_cast<size_t>(b)].tokens));
  }
}

TEST(ExplainedClassifier, TheSameOrderChangesNothingAndAnotherOneIsThatOfWeights) {
  for (const auto& small : {kExact[0], kExact[5], kOthers[0], kOthers[1]}) {
    const auto model = model_of(small);
    const auto batch = model->read({0});
    const Tensor rows = at::zeros({1}, at::kLong), same = at::arange(batch->tokens(), at::kLong).view({1, 1, -1});
    EXPECT_TRUE(at::allclose(batch->outputs_permuted(rows, same), batch->outputs, 1e-5, 1e-6)) << small.model;
  }
  const auto model = model_of(kExact[0]);
  const auto batch = model->read({0});
  const Tensor rows = at::zeros({1}, at::kLong),
               turned = at::arange(batch->tokens(), at::kLong).flip(0).view({1, 1, -1});
  const Tensor found = batch->outputs_permuted(rows, turned);
  EXPECT_TRUE(at::allclose(found, batch->outputs_with(rows, batch->weights.flip(-1)), 1e-5, 1e-6));
  EXPECT_FALSE(at::allclose(found, batch->outputs, 1e-4, 1e-5));
}

// Under every question: as it is, with its weights given, from its embeddings, with their order, without tokens.
TEST(ExplainedClassifier, AGuidedModelHasTheWeightsOfItsGuide) {
  const at::NoGradGuard no_gradients;
  for (const auto& small : {plain("additive + softmax"), plain("{mechanism: additive + softmax, num_heads: 2}"),
                            document("{structure: hierarchical, align: softmax}")}) {
    const std::string features = "{kind: recurrent, dim: 8}", other = "{kind: tokenwise, dim: 8}";
    SmallClassifier tokenwise = small;
    tokenwise.model.replace(tokenwise.model.find(features), features.size(), other);
    Classifier guided = small_classifier(tokenwise), guide = small_classifier(small);
    guided.model().set_guide(guide.shared_model());
    std::vector<ClassifiedText> texts;
    std::vector<std::vector<std::string>> read;
    for (const auto& text : small.sentences == "none" ? kTexts : kDocuments) {
      texts.push_back({.text = text});
      read.push_back({text});
    }
    const auto said = guided.predict(read);
    const auto model = explained_classifier("runs/guided", guided, texts), alone = model_of(small);
    const auto batch = model->read(all_items(*model)), of_guide = alone->read(all_items(*alone));
    EXPECT_TRUE(at::allclose(batch->weights, of_guide->weights, 1e-5, 1e-6)) << small.model;
    EXPECT_FALSE(at::allclose(batch->outputs, of_guide->outputs, 1e-3, 1e-3)) << small.model;
    for (int64_t b = 0; b < batch->size(); ++b)
      for (int64_t c = 0; c < batch->outputs.size(-1); ++c)
        EXPECT_NEAR(batch->outputs[b][0][c].item<double>(),
                    said[static_cast<size_t>(b)].probabilities[static_cast<size_t>(c)], 1e-5)
            << small.model;
    const Tensor rows = all_rows(*batch), order = at::arange(batch->tokens()).expand_as(batch->weights);
    for (const Tensor& outputs :
         {batch->outputs_with(rows, batch->weights), batch->outputs_permuted(rows, order),
          batch->outputs_from(rows, batch->embedded(), false), batch->outputs_from(rows, batch->embedded(), true),
          batch->outputs_without(rows, at::zeros_like(batch->keep))})
      EXPECT_TRUE(at::allclose(outputs, batch->outputs, 1e-4, 1e-5)) << small.model;
  }
}

TEST(ExplainedClassifier, RemovedTokensGiveTheShorterText) {
  const auto model = model_of(kExact[0]);
  const auto batch = model->read({0, 1});
  Tensor removed = at::zeros({2, batch->tokens()}, at::kBool);
  removed[0].slice(0, 1, 9).fill_(true);  // "the film was good and the end was bad" -> "the"
  removed[1].slice(0, 0, 4).fill_(true);  // "no one liked the soup" -> "soup"
  const Tensor found = batch->outputs_without(at::tensor({0, 1}, at::kLong), removed);
  const auto short_batch = model->read({2});  // "soup"
  EXPECT_TRUE(at::allclose(found[1], short_batch->outputs[0], 1e-5, 1e-6));
  EXPECT_FALSE(at::allclose(found[0], short_batch->outputs[0], 1e-4, 1e-5));
  const Tensor none = batch->outputs_without(at::tensor({1}, at::kLong), at::ones({1, batch->tokens()}, at::kBool));
  EXPECT_TRUE(at::isfinite(none).all().item<bool>());
}

TEST(ExplainedClassifier, OwnEmbeddingsGiveOwnOutputs) {
  for (const auto& small : kExact) {
    const auto model = model_of(small);
    const auto batch = model->read(all_items(*model));
    for (const bool fixed : {false, true})
      EXPECT_TRUE(
          at::allclose(batch->outputs_from(all_rows(*batch), batch->embedded(), fixed), batch->outputs, 1e-5, 1e-6))
          << small.model;
  }
}

TEST(ExplainedClassifier, FixedWeightsHaveNoGradient) {
  const auto model = model_of(plain("additive + softmax", "embedding"));
  const auto batch = model->read({0});
  const auto gradient = [&](bool fixed) {
    const Tensor embedded = batch->embedded().clone().requires_grad_();
    const Tensor out = batch->outputs_from(at::zeros({1}, at::kLong), embedded, fixed).select(-1, 0).sum();
    return torch::autograd::grad({out}, {embedded}).front();
  };
  EXPECT_FALSE(at::allclose(gradient(true), gradient(false), 1e-3, 1e-6));
  // With fixed weights the context is linear in the embeddings: every token's gradient is its weight times one vector.
  const Tensor g = gradient(true)[0], a = batch->weights[0][0].unsqueeze(-1);
  EXPECT_TRUE(at::allclose(g / a, (g / a).mean(0, true).expand_as(g), 1e-3, 1e-5));
}

// Where features are those of each token alone, all of the weight on a token gives the output of the token alone.
TEST(ExplainedClassifier, AllWeightOnATokenGivesTheTextOfThatToken) {
  for (const char* mechanism : {"additive + softmax", "self_attentive + sparsemax",
                                "{structure: multi_hop(hops=1), mechanism: additive + softmax}"}) {
    const auto model = model_of(plain(mechanism, "embedding"));
    const auto batch = model->read({0, 1});  // "soup" is the last of 5 tokens of text 1
    const Tensor weights = at::zeros({1, 1, batch->tokens()});
    weights[0][0][4] = 1;
    const Tensor found = batch->outputs_with(at::ones({1}, at::kLong), weights);
    EXPECT_TRUE(at::allclose(found[0], model->read({2})->outputs[0], 1e-5, 1e-6)) << mechanism;
  }
}

TEST(ExplainedClassifier, TheOrderOfRowsChangesNothing) {
  const auto model = model_of(kExact[0]);
  const auto batch = model->read(all_items(*model));
  const Tensor weights = at::rand({6, 1, batch->tokens()}) * batch->keep[0];
  const auto of = [&](const std::vector<int64_t>& rows, const std::vector<int64_t>& some) {
    return batch->outputs_with(at::tensor(rows, at::kLong), weights.index_select(0, at::tensor(some, at::kLong)));
  };
  const Tensor grouped = of({0, 0, 0, 1, 1, 1}, {0, 1, 2, 3, 4, 5});
  const Tensor mixed = of({0, 1, 0, 1, 0, 1}, {0, 3, 1, 4, 2, 5});
  EXPECT_TRUE(at::allclose(mixed, grouped.index_select(0, at::tensor({0, 3, 1, 4, 2, 5}, at::kLong)), 1e-5, 1e-6));
  const Tensor uneven = of({0, 0, 0, 1, 1}, {0, 1, 2, 3, 4});
  EXPECT_TRUE(at::allclose(uneven, grouped.slice(0, 0, 5), 1e-5, 1e-6));
  EXPECT_EQ(of({}, {}).size(0), 0);
}

TEST(ExplainedClassifier, GradientOfWeightsIsThatOfDifferences) {
  for (const auto& small : {kExact[0], kExact[5]}) {
    const auto model = model_of(small);
    const auto batch = model->read({0});
    const Tensor rows = at::zeros({1}, at::kLong);
    const Tensor weights = batch->weights.clone().requires_grad_();
    const Tensor found =
        torch::autograd::grad({batch->outputs_with(rows, weights).select(-1, 0).sum()}, {weights}).front();
    const at::NoGradGuard no_grad;
    for (int64_t t = 0; t < batch->tokens(); ++t) {
      if (!batch->keep[0][t].item<bool>()) continue;
      constexpr double kStep = 1e-2;
      const auto at_step = [&](double step) {
        Tensor other = batch->weights.clone();
        other[0][0][t] += step;
        return batch->outputs_with(rows, other)[0][0][0].item<double>();
      };
      EXPECT_NEAR(found[0][0][t].item<double>(), (at_step(kStep) - at_step(-kStep)) / (2 * kStep), 2e-3) << small.model;
    }
  }
}

TEST(ExplainedClassifier, ABatchGivesWhatItsTextsGive) {
  for (const auto& small : {kExact[0], kExact[5], kOthers[4]}) {
    const auto model = model_of(small);
    const auto together = model->read(all_items(*model));
    for (size_t i = 0; i < model->texts().size(); ++i) {
      const auto alone = model->read({i});
      const auto b = static_cast<int64_t>(i);
      EXPECT_TRUE(at::allclose(together->outputs[b], alone->outputs[0], 1e-5, 1e-6)) << small.model;
      EXPECT_TRUE(at::allclose(together->weights[b].masked_select(together->keep[b]),
                               alone->weights[0].masked_select(alone->keep[0]), 1e-5, 1e-6))
          << small.model;
    }
  }
}

TEST(ExplainedClassifier, OnlyLayersHaveARollout) {
  EXPECT_FALSE(model_of(kExact[0])->read({0})->rollout().defined());
  const auto model = model_of(kOthers[4]);
  const auto batch = model->read({0, 1});
  const Tensor rollout = batch->rollout();
  ASSERT_TRUE(rollout.defined());
  EXPECT_TRUE(at::allclose(rollout.sum(-1), at::ones({2, 1}), 1e-4, 1e-4));
  EXPECT_EQ(rollout.squeeze(1).masked_select(batch->keep.logical_not()).abs().sum().item<double>(), 0);
}

TEST(ExplainedClassifier, AnUnknownWordIsShownAsItWasWritten) {
  const auto model = model_of(kExact[0]);
  EXPECT_EQ(model->texts()[3].tokens, (std::vector<std::string>{"unknownword", "film"}));
  EXPECT_EQ(model->texts()[3].word, (std::vector<int64_t>{0, 1}));
}

TEST(ExplainedClassifier, ANumberIsAnOutputOfOneClass) {
  const auto model =
      model_of({.model = "features: {kind: recurrent, dim: 8}, output: regression", .form = LabelForm::number});
  EXPECT_TRUE(model->facts().number && model->facts().several);
  const auto batch = model->read(all_items(*model));
  EXPECT_EQ(batch->outputs.sizes(), (std::vector<int64_t>{4, 1, 1}));
  EXPECT_TRUE(at::allclose(batch->outputs_with(all_rows(*batch), batch->weights), batch->outputs, 1e-5, 1e-6));
}

TEST(ExplainedClassifier, ModelsOfSeveralTextsAndOfWordsAreRefused) {
  const auto refused = [](const SmallClassifier& small) {
    EXPECT_THROW(explained_classifier("runs/small", small_classifier(small), {}), Error);
  };
  refused({.model = "features: {kind: recurrent, dim: 8}, attention: {structure: self_attentive(features)}, output: "
                    "token_softmax",
           .form = LabelForm::tokens});
  refused({.model = "features: {kind: recurrent, dim: 8}, attention: {structure: interactive}",
           .columns = {"first", "second"}});
}

}  // namespace
}  // namespace heed
