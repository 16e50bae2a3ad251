// The model of a classifier: which parameters it has, what it draws, and what padding may not change.

#include "heed/models/classify/model.h"

#include <set>

#include "heed/attention/testing.h"
#include "heed/data/testing.h"
#include "heed/models/classify/testing_classifier.h"
#include "heed/torch_support/noise_scope.h"

namespace heed::testing {
namespace {

using Lines5 = std::vector<std::vector<std::string>>;

const Lines5 kFive{{"the film was good"}, {"soup"}, {"a bad end . was it the film ?"}, {"no one"}, {"was it hot ?"}};
const Lines5 kFiveDocuments{
    {"the film\twas good\tor bad"}, {"soup"}, {"a bad end .\twas it the film ?"}, {"no one\tliked\tthe\tsoup"}, {""}};

std::set<std::string> parameter_names(ClassificationModel& model) {
  std::set<std::string> names;
  for (const auto& item : model.named_parameters()) names.insert(item.key());
  return names;
}

/// The loss of a share of a batch in training, with the gradient of the embedding.
struct ShareLoss {
  double loss = 0;
  Tensor gradient;
};

ShareLoss share_loss(Classifier& classifier, const Lines5& texts, int64_t rank, int64_t world) {
  ClassificationModel& model = classifier.model();
  model.train();
  model.zero_grad();
  const TextBatch batch = batch_of(classifier, texts, rank, world);
  if (batch.rows.empty()) return {};
  const NoiseScope noise(3, 1, batch.first_row);
  const Pooled pooled = model.pool(batch);
  const auto B = static_cast<int64_t>(batch.rows.size());
  Tensor wanted = at::ones({B}, at::kLong);
  if (pooled.rows.dim() == 3)
    wanted =
        at::ones({B, pooled.rows.size(1)}, at::kLong).masked_fill(pooled.keep.logical_not(), LabelOutput::kNoLabel);
  const Tensor loss = model.loss(pooled, wanted, {});
  loss.backward();
  const Tensor table = model.named_parameters().begin()->value();
  return {loss.item<double>(), table.grad().clone()};
}

TEST(ClassificationModel, SumsTheLossesOfSharesToThatOfTheBatch) {
  const std::string drops = "embedding: {dim: 8, dropout: 0.4}, output: {dropout: 0.3}, ",
                    drops_of_tokens =
                        "embedding: {dim: 8, dropout: 0.4}, output: {kind: token_softmax, dropout: 0.3}, ";
  const std::vector<std::pair<SmallClassifier, Lines5>> cases{
      {{.model = drops + "features: {dim: 8, num_layers: 2, dropout: 0.5}, attention: {dropout: 0.2}"}, kFive},
      {{.model = drops + "features: {kind: convolution, dim: 8, dropout: 0.5}, attention: {structure: stack}"}, kFive},
      {{.model = drops + "features: {kind: transformer, num_heads: 2, dropout: 0.3, attention_dropout: 0.3, "
                         "class_token: true}, attention: fixed"},
       kFive},
      {{.model = drops + "features: {dim: 8}, attention: {preset: kiela_2018, dropout: 0.2}"}, kFive},
      {{.model = drops + "features: {dim: 8}, attention: additive + hard"}, kFive},
      {{.model = drops_of_tokens + "features: {dim: 8}", .form = LabelForm::tokens}, kFive},
      {{.model = drops + "features: embedding, attention: {preset: yang_2016, dropout: 0.2}", .sentences = "tab"},
       kFiveDocuments},
      {{.model = drops + "features: {kind: convolution, dim: 8, dropout: 0.5}, attention: {structure: hierarchical}",
        .sentences = "tab"},
       kFiveDocuments},
      {{.model = drops + "features: {kind: transformer, num_heads: 2, dropout: 0.3, attention_dropout: 0.3}, "
                         "attention: {structure: hierarchical, align: hard}",
        .sentences = "tab"},
       kFiveDocuments}};
  for (const auto& [small, texts] : cases) {
    SCOPED_TRACE(small.model);
    Classifier classifier = small_classifier(small);
    const ShareLoss whole = share_loss(classifier, texts, 0, 1);
    for (const int64_t world : {2, 3}) {
      ShareLoss sum;
      for (int64_t rank = 0; rank < world; ++rank) {
        const ShareLoss own = share_loss(classifier, texts, rank, world);
        sum.loss += own.loss;
        sum.gradient = sum.gradient.defined() ? sum.gradient + own.gradient : own.gradient;
      }
      EXPECT_NEAR(sum.loss, whole.loss, 1e-5 * whole.loss);  // float: a sum of five, through about 100 operations
      EXPECT_TRUE(close(sum.gradient, whole.gradient, 1e-4 * largest(whole.gradient)));
    }
  }
}

TEST(ClassificationModel, HasATableForEachRepresentationOfAText) {
  for (const char* preset : {"kiela_2018", "winata_2019"}) {
    SCOPED_TRACE(preset);
    Classifier classifier =
        small_classifier({.model = std::string("features: {dim: 8}, attention: {preset: ") + preset + "}"});
    ClassificationModel& model = classifier.model();
    const auto names = parameter_names(model);
    EXPECT_TRUE(names.count("embedding_1.weight") > 0 && names.count("embedding_2.weight") > 0);
    EXPECT_EQ(names.count("embedding.weight"), 0U);
    // Each table decides, and each is trained.
    const auto predict = [&] { return model.predict(model.pool(batch_of(classifier, kFive))); };
    predict().select(1, 0).sum().backward();
    const Tensor before = predict().detach();
    for (const auto& item : model.named_parameters()) {
      if (item.key().rfind("embedding_", 0) != 0) continue;
      EXPECT_GT(largest(item.value().grad()), 0) << item.key();
      const at::NoGradGuard no_grad;
      const Tensor kept = item.value().clone();
      item.value().zero_();
      EXPECT_FALSE(close(predict(), before, 1e-4)) << item.key();
      item.value().copy_(kept);
    }
  }
}

TEST(ClassificationModel, SharesItsFeaturesOnRequest) {
  const auto names = [](const std::string& shared) {
    Classifier classifier =
        small_classifier({.model = "features: {dim: 8, shared: " + shared + "}, attention: {structure: interactive}",
                          .columns = {"first", "second"}});
    return std::pair{parameter_names(classifier.model()), classifier.model().parameter_count()};
  };
  const auto [own, own_count] = names("false");
  const auto [shared, shared_count] = names("true");
  const auto begins = [](const std::set<std::string>& all, const std::string& prefix) {
    return std::any_of(all.begin(), all.end(), [&](const std::string& name) { return name.rfind(prefix, 0) == 0; });
  };
  EXPECT_TRUE(begins(own, "features_1.") && begins(own, "features_2."));
  EXPECT_TRUE(begins(shared, "features.") && !begins(shared, "features_2."));
  EXPECT_LT(shared_count, own_count);
}

TEST(ClassificationModel, SetsVectorsInEveryTable) {
  Classifier classifier = small_classifier({.model = "features: {dim: 8}, attention: {preset: kiela_2018}"});
  ClassificationModel& model = classifier.model();
  const Tensor before = model.named_parameters().begin()->value().detach().clone();
  model.set_vectors(at::tensor({5, 7}, at::kLong), at::full({2, 8}, 3.0F));
  for (const auto& item : model.named_parameters()) {
    if (item.key().rfind("embedding_", 0) != 0) continue;
    EXPECT_TRUE(close(item.value()[5], at::full({8}, 3.0)));
    EXPECT_TRUE(close(item.value()[7], at::full({8}, 3.0)));
  }
  EXPECT_TRUE(same_bits(model.named_parameters().begin()->value()[6].detach(), before[6]));
}

TEST(ClassificationModel, HasNoGradientOfFrozenEmbeddings) {
  Classifier classifier = small_classifier({.model = "embedding: {dim: 8, frozen: true}"});
  ClassificationModel& model = classifier.model();
  model.predict(model.pool(batch_of(classifier, kFive))).select(1, 0).sum().backward();
  for (const auto& item : model.named_parameters()) {
    EXPECT_EQ(item.value().requires_grad(), item.key() != "embedding.weight") << item.key();
    EXPECT_EQ(item.value().grad().defined(), item.key() != "embedding.weight") << item.key();
  }
}

TEST(ClassificationModel, HasNoGradientOfPadding) {
  for (const char* model : {"", "features: {kind: convolution, dim: 8}, attention: mean",
                            "features: {kind: transformer, num_heads: 2, class_token: true}, attention: fixed"}) {
    Classifier classifier = small_classifier({.model = model});
    classifier.model().predict(classifier.model().pool(batch_of(classifier, kFive))).select(1, 0).sum().backward();
    EXPECT_EQ(largest(classifier.model().named_parameters().find("embedding.weight")->grad()[0]), 0);
  }
}

TEST(ClassificationModel, LearnsItsClassToken) {
  Classifier classifier =
      small_classifier({.model = "features: {kind: transformer, num_heads: 2, class_token: true}, attention: fixed"});
  ClassificationModel& model = classifier.model();
  const auto predict = [&] { return model.predict(model.pool(batch_of(classifier, kFive))); };
  predict().select(1, 0).sum().backward();
  const Tensor token = *model.named_parameters().find("features.class_token");
  EXPECT_GT(largest(token.grad()), 0);
  const Tensor before = predict().detach();
  const at::NoGradGuard no_grad;
  token.add_(at::arange(8));
  EXPECT_FALSE(close(predict(), before, 1e-4));
}

TEST(ClassificationModel, NamesTheStepsOfItsFeatures) {
  Classifier classifier = small_classifier({.model = "features: {kind: transformer, num_heads: 2, num_layers: 2}"});
  std::vector<std::string> names;
  for (const auto& [name, attended] : classifier.model().pool(batch_of(classifier, kFive)).output.steps)
    names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"features.layers.0.self", "features.layers.1.self", "attend"}));
}

}  // namespace
}  // namespace heed::testing
