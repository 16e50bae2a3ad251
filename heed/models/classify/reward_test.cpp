#include "heed/models/classify/reward.h"

#include <cmath>

#include "heed/attention/testing.h"
#include "heed/models/classify/testing_classifier.h"

namespace heed::testing {
namespace {

using Texts = std::vector<std::vector<std::string>>;

std::unique_ptr<LabelReward> reward_for(const std::string& mechanism, double share = 0.5) {
  return LabelReward::for_mechanism(mechanism, {.weight = 2, .soft_share = share});
}

TEST(LabelReward, IsForAttentionThatDraws) {
  EXPECT_EQ(reward_for("additive + softmax"), nullptr);
  EXPECT_EQ(reward_for("softmax"), nullptr);  // inside a structure that computes its own scores
  EXPECT_NE(reward_for("additive + hard"), nullptr);
  EXPECT_NE(reward_for("hard"), nullptr);
  EXPECT_NE(reward_for("reinforced"), nullptr);
}

TEST(LabelReward, SpreadsSoftBatchesEvenly) {
  const auto soft = [](const std::string& mechanism, double share) {
    std::string found;
    for (int64_t batch = 0; batch < 10; ++batch) found += reward_for(mechanism, share)->is_soft(batch) ? 's' : '.';
    return found;
  };
  EXPECT_EQ(soft("additive + hard", 0.5), ".s.s.s.s.s");
  EXPECT_EQ(soft("additive + hard", 0), "..........");
  EXPECT_EQ(soft("additive + hard", 1), "ssssssssss");
  EXPECT_EQ(soft("additive + reinforced", 0.5), "..........");
}

// log .2 and log .7; a class that does not apply counts with 1 - p; (1.5 - 1)^2; tokens without a label do not count.
TEST(LabelLogProbability, IsThatOfTheLabel) {
  const auto is = [](const Tensor& got, const std::vector<double>& expected) {
    return close(got, at::tensor(expected), 1e-6);
  };
  const Tensor p = at::tensor({.2, .8, .3, .7}).view({2, 2});
  EXPECT_TRUE(
      is(label_log_probability(p, at::tensor({0, 1}, at::kLong), LabelForm::one), {std::log(.2), std::log(.7)}));
  EXPECT_TRUE(is(label_log_probability(p, at::tensor({1.0, 1.0, 0.0, 0.0}).view({2, 2}), LabelForm::several),
                 {std::log(.2 * .8), std::log(.7 * .3)}));
  EXPECT_TRUE(is(label_log_probability(at::tensor({1.5}).view({1, 1}), at::tensor({1.0}), LabelForm::number), {-0.25}));
  const Tensor words = p.view({1, 2, 2});
  EXPECT_TRUE(is(label_log_probability(words, at::tensor({0, 1}, at::kLong).view({1, 2}), LabelForm::tokens),
                 {std::log(.2 * .7)}));
  EXPECT_TRUE(is(label_log_probability(words, at::tensor({-100, 1}, at::kLong).view({1, 2}), LabelForm::tokens),
                 {std::log(.7)}));
}

TEST(LabelLogProbability, IsFiniteWhereAProbabilityUnderflows) {
  const Tensor p = at::tensor({0.0, 1.0}).view({1, 2});
  EXPECT_TRUE(label_log_probability(p, at::tensor({0}, at::kLong), LabelForm::one).isfinite().all().item<bool>());
}

struct Rewarded {
  double loss = 0, expected = 0, baseline = 0, mean = 0;
};

/// - weight sum_b (R_b - baseline) log p_b, with the log-probability of all samples of a text, over the texts and
/// steps.
Rewarded rewarded(const SmallClassifier& small, const Texts& texts, double baseline) {
  Classifier classifier = small_classifier(small);
  ClassificationModel& model = classifier.model();
  model.train();
  const Pooled pooled = model.pool(batch_of(classifier, texts));
  const Tensor wanted = at::zeros({static_cast<int64_t>(texts.size())}, at::kLong);
  const Tensor predicted = model.predict(pooled).detach();
  const auto reward = reward_for(model.attention().mechanism());
  reward->set_baseline(baseline);
  Rewarded out;
  out.loss = (*reward)(pooled, predicted, wanted, LabelForm::one).item<double>();
  double before = baseline;
  for (const auto& [name, attended] : pooled.output.steps) {
    const auto own = attended.log_probability.size(0) / wanted.size(0);
    double mean = 0;
    for (int64_t b = 0; b < wanted.size(0); ++b) {
      const double R = std::log(predicted[b][0].item<double>());
      mean += R / static_cast<double>(wanted.size(0));
      for (int64_t s = 0; s < own; ++s)
        out.expected -= 2 * (R - before) * attended.log_probability[b * own + s].sum().item<double>();
    }
    before = 0.9 * before + 0.1 * mean;
  }
  out.baseline = before;
  out.mean = reward->baseline();
  return out;
}

TEST(LabelReward, RewardsTheSamplesOfEachText) {
  const Texts texts{{"the film was good"}, {"no one liked the soup"}};
  for (const char* model : {"features: {dim: 8}, attention: additive + hard",
                            "features: {dim: 8}, attention: {mechanism: additive + hard, num_heads: 2}",
                            "features: {dim: 8}, attention: {structure: multi_hop(hops=2), align: hard}",
                            "features: {dim: 8}, attention: additive + reinforced"}) {
    SCOPED_TRACE(model);
    const Rewarded got = rewarded({.model = model}, texts, -1.5);
    EXPECT_NEAR(got.loss, got.expected, 1e-4 * std::fabs(got.expected));
    EXPECT_GT(std::fabs(got.expected), 1e-3);
    EXPECT_NEAR(got.mean, got.baseline, 1e-5);
  }
}

TEST(LabelReward, RewardsTheSentencesOfADocumentWithItsLabel) {
  const Rewarded got =
      rewarded({.model = "features: {dim: 8}, attention: {structure: hierarchical, align: hard}", .sentences = "tab"},
               {{"the film\twas good or bad\tno"}, {"the soup"}}, -1.5);
  EXPECT_NEAR(got.loss, got.expected, 1e-4 * std::fabs(got.expected));
  EXPECT_GT(std::fabs(got.expected), 1e-3);
}

}  // namespace
}  // namespace heed::testing
