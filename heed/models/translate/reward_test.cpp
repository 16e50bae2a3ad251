#include "heed/models/translate/reward.h"

#include "heed/attention/testing.h"
#include "heed/data/recipe.h"

namespace heed::testing {
namespace {

std::shared_ptr<TranslationModel> model_with(const std::string& attention) {
  at::manual_seed(5);
  const Settings recipe = parse_recipe(
      "model: {embedding: {dim: 8, dropout: 0}, features: {dim: 8}, query: {state_dim: 8}, "
      "attention: " +
          attention + "}",
      "small");
  return std::make_shared<TranslationModel>(recipe.at("model"), Vocabularies{7, 7, false});
}

PairBatch two_pairs() {
  return collate({{{4, 5, 6}, {5}}, {{6, 4}, {5, 5, 4}}}, {0, 1});
}

TEST(RewardLoss, IsForAttentionThatDraws) {
  EXPECT_EQ(RewardLoss::for_model(*model_with("additive + softmax"), {}), nullptr);
  EXPECT_NE(RewardLoss::for_model(*model_with("additive + hard"), {}), nullptr);
  EXPECT_NE(RewardLoss::for_model(*model_with("additive + reinforced"), {}), nullptr);
}

// Half of the batches, a fifth, all, none; a policy is never replaced by softmax.
TEST(RewardLoss, SpreadsSoftBatchesEvenly) {
  const auto soft = [](const std::string& attention, double share) {
    const auto model = model_with(attention);
    const auto reward = RewardLoss::for_model(*model, {.soft_share = share});
    std::string found;
    for (int64_t batch = 0; batch < 10; ++batch) found += reward->is_soft(batch) ? 's' : '.';
    return found;
  };
  EXPECT_EQ(soft("additive + hard", 0.5), ".s.s.s.s.s");
  EXPECT_EQ(soft("additive + hard", 0.2), "....s....s");
  EXPECT_EQ(soft("additive + hard", 1), "ssssssssss");
  EXPECT_EQ(soft("additive + hard", 0), "..........");
  EXPECT_EQ(soft("additive + reinforced", 0.5), "..........");
}

// The reward of each sample of hard is the log-probability of its own token. With baseline 0 the loss is
// -weight sum log p(token) log p(sample) over the tokens, and the new baseline is a tenth of the mean log p(token).
TEST(RewardLoss, RewardsEveryChoiceOfHardWithItsWord) {
  const auto model = model_with("additive + hard");
  model->train();
  const auto reward = RewardLoss::for_model(*model, {.weight = 0.3});
  const Predicted predicted = model->predict(two_pairs());
  const Attended& drawn = step_of(predicted.output.steps, model->aligning_step(), "test");
  const auto log_p = predicted.target_log_probabilities();
  double expected = 0;
  ASSERT_EQ(log_p.size(0), 7);  // 2 + 3 words and two end markers
  for (int64_t i = 0; i < log_p.size(0); ++i) {
    const auto row = predicted.row[i].item<int64_t>(), position = predicted.position[i].item<int64_t>();
    expected -= 0.3 * log_p[i].item<double>() * drawn.log_probability[row][position].item<double>();
  }
  EXPECT_NEAR((*reward)(predicted, 2).item<double>(), expected, 1e-4 * std::abs(expected));
  EXPECT_NEAR(reward->baseline(), 0.1 * log_p.mean().item<double>(), 1e-5);
}

// Heads sample independently, so the log-probabilities of their samples are summed; there are as many heads as steps.
TEST(RewardLoss, RewardsTheChoicesOfEveryHead) {
  const auto model = model_with("{score: additive, align: hard, num_heads: 4, hidden_dim: 8}");
  model->train();
  const auto reward = RewardLoss::for_model(*model, {.weight = 1});
  const Predicted predicted = model->predict(two_pairs());
  const Attended& drawn = step_of(predicted.output.steps, model->aligning_step(), "test");
  ASSERT_EQ(drawn.log_probability.sizes(), at::IntArrayRef({2, 4, 4}));
  const auto log_p = predicted.target_log_probabilities();
  double expected = 0;
  for (int64_t i = 0; i < log_p.size(0); ++i) {
    const auto row = predicted.row[i].item<int64_t>(), position = predicted.position[i].item<int64_t>();
    expected -= log_p[i].item<double>() * drawn.log_probability[row].select(1, position).sum().item<double>();
  }
  EXPECT_NEAR((*reward)(predicted, 2).item<double>(), expected, 1e-4 * std::abs(expected));
}

// A policy samples once for a sentence: its reward is a sum over tokens, its baseline is scaled by their number.
TEST(RewardLoss, RewardsAPolicyWithItsSentence) {
  const auto model = model_with("additive + reinforced");
  model->train();
  const auto reward = RewardLoss::for_model(*model, {.weight = 1});
  reward->set_baseline(-2);
  const Predicted predicted = model->predict(two_pairs());
  const Attended& drawn = step_of(predicted.output.steps, model->aligning_step(), "test");
  const auto sums = predicted.log_probabilities(2);
  double expected = 0;
  for (int64_t row = 0; row < 2; ++row) {
    const double tokens = row == 0 ? 3 : 4;  // with the end marker
    expected -= (sums[row].item<double>() + 2 * tokens) * drawn.log_probability[row].sum().item<double>();
  }
  EXPECT_NEAR((*reward)(predicted, 2).item<double>(), expected, 1e-4 * std::max(1.0, std::abs(expected)));
}

// While soft, the model equals the one with softmax, and its scores have a gradient without any reward.
TEST(SoftAttention, IsTheModelWithSoftmaxWhileItLives) {
  const auto hard = model_with("additive + hard"), soft = model_with("additive + softmax");
  hard->eval();
  soft->eval();
  const auto logits = [](TranslationModel& model) { return model.predict(two_pairs()).logits(); };
  const auto decided = logits(*hard).detach();
  {
    const SoftAttention none(*hard, false);
    EXPECT_TRUE(same_bits(logits(*hard), decided));
    const SoftAttention softened(*hard, true);
    EXPECT_TRUE(same_bits(logits(*hard), logits(*soft)));
    logits(*hard).sum().backward();
  }
  EXPECT_TRUE(same_bits(logits(*hard), decided));
  EXPECT_FALSE(close(decided, logits(*soft), 1e-6));
  for (const auto& item : hard->named_parameters()) {
    const bool of_score = item.key().find("score.") != std::string::npos;
    EXPECT_TRUE(!of_score || item.value().grad().abs().sum().item<double>() > 0) << item.key();
  }
}

}  // namespace
}  // namespace heed::testing
