// That models made for tests compute what they say, by hand.

#include "heed/explain/testing_explained.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

Tensor rows_of(const std::vector<int64_t>& rows) {
  return at::tensor(rows, at::kLong);
}

void expect_close(const Tensor& found, const Tensor& expected) {
  EXPECT_TRUE(at::allclose(found, expected, 1e-5, 1e-6)) << found << "\n" << expected;
}

/// Of two classes, of which the first has the logit 0.
Tensor probabilities(const std::vector<float>& logits) {
  const Tensor second = at::tensor(logits);
  return at::stack({at::zeros_like(second), second}, -1).softmax(-1).unsqueeze(1);
}

TEST(TestingExplained, WeightsAreThoseOfTheTokens) {
  const auto model = testing::faithful_model();
  const auto batch = model->read({0, 2});
  expect_close(batch->weights, at::tensor({1.0F, 8.0F, 4.0F, 2.0F, 4.0F, 1.0F, 0.0F, 0.0F}).view({2, 1, 4}));
  expect_close(batch->outputs, probabilities({1.5F, 0.5F}));
}

TEST(TestingExplained, VariationsAreByHand) {
  const auto model = testing::faithful_model();
  const auto batch = model->read({0, 2});
  const Tensor other = at::tensor({1.0F, 0.0F, 0.0F, 0.0F}).view({1, 1, 4});
  expect_close(batch->outputs_with(rows_of({1}), other), probabilities({0.1F}));
  const Tensor order = at::tensor({1, 0, 2, 3}, at::kLong).view({1, 1, 4});
  expect_close(batch->outputs_permuted(rows_of({0}), order), probabilities({1.5F}));
  const Tensor removed = at::tensor({0, 1, 0, 0, 1, 1, 0, 0}).view({2, 4}).to(at::kBool);
  expect_close(batch->outputs_without(rows_of({0, 1}), removed), probabilities({0.7F, 0.0F}));
  expect_close(batch->outputs_from(rows_of({1, 0}), batch->embedded().flip(0), false), batch->outputs.flip(0));
}

TEST(TestingExplained, FixedWeightsHaveNoGradient) {
  const auto model = testing::faithful_model();
  const auto batch = model->read({0});
  for (const bool fixed : {false, true}) {
    const Tensor embedded = batch->embedded().requires_grad_();
    const Tensor output = batch->outputs_from(rows_of({0}), embedded, fixed)[0][0][1];
    const Tensor gradient = torch::autograd::grad({output}, {embedded})[0];
    EXPECT_EQ(gradient.select(-1, 0).abs().max().item<float>() == 0, fixed);
    EXPECT_GT(gradient.select(-1, 2).abs().max().item<float>(), 0);
  }
}

TEST(TestingExplained, ModelThatIgnoresItsWeightsHasTheSameOutputsUnderAll) {
  const auto model = testing::ignoring_model();
  const auto batch = model->read({0, 1, 2, 3, 4});
  expect_close(batch->outputs_with(at::arange(5), at::rand({5, 1, 4})), batch->outputs);
  expect_close(batch->weights.sum(-1), at::ones({5, 1}));
}

TEST(TestingExplained, OneTwinIsEnough) {
  const auto model = testing::redundant_model();
  const auto batch = model->read({0});  // twin the a twin: 4 - .5 - .25
  expect_close(batch->outputs, probabilities({3.25F}));
  const Tensor one = at::tensor({1, 0, 0, 0}).view({1, 4}).to(at::kBool);
  expect_close(batch->outputs_without(rows_of({0}), one), batch->outputs);
  const Tensor both = at::tensor({1, 0, 0, 1}).view({1, 4}).to(at::kBool);
  expect_close(batch->outputs_without(rows_of({0}), both), probabilities({-0.75F}));
}

TEST(TestingExplained, LaterPositionsAttendToMoreTokens) {
  const auto model = testing::faithful_model({.positions = 2, .ends = {2, 2, 1, 2, 2}});
  const auto batch = model->read({0, 2});
  const float root = std::sqrt(2.0F);
  expect_close(batch->weights[0][1], at::tensor({1.0F, 2 * root, 2.0F, root}));
  EXPECT_EQ(batch->weights[1][1].abs().sum().item<float>(), 0);
  EXPECT_EQ(batch->outputs[1][1].abs().sum().item<float>(), 0);
}

TEST(TestingExplained, DegenerateTexts) {
  const auto model = testing::degenerate_model({.padding = 1});
  const auto batch = model->read({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(batch->tokens(), 4);
  const Tensor sums = batch->weights.sum(-1).view({-1});
  expect_close(sums.index_select(0, rows_of({0, 1, 2, 4, 5})), at::tensor({1.0F, 0.0F, 1.0F, 0.0F, 1.0F}));
  EXPECT_TRUE(sums[3].isnan().item<bool>());
  EXPECT_TRUE(batch->outputs[3].isnan().all().item<bool>());
  expect_close(batch->outputs[1], at::full({1, 2}, 0.5F));
  EXPECT_EQ(batch->weights[5][0][1].item<float>(), 0);
}

}  // namespace
}  // namespace heed
