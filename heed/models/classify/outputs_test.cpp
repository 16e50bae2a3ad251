// Output models of classifiers against their formulas in plain numbers.

#include <cmath>

#include "heed/attention/testing.h"
#include "heed/data/recipe.h"
#include "heed/data/testing.h"
#include "heed/models/classify/label_output.h"
#include "heed/structures/query/capsule.h"

namespace heed::testing {
namespace {

using ScoreRows = std::vector<std::vector<double>>;

constexpr int64_t kIn = 4;

/// float: sums of about 30 terms around 1, each rounded by 6e-8, through one exp and one log.
constexpr double kFormula = 1e-5;

Settings output_recipe(const std::string& output) {
  return parse_recipe("model: {output: " + output + "}", "small.yaml").at("model").at("output", kKindKey);
}

std::shared_ptr<LabelOutput> output_of(const std::string& recipe, int64_t classes, const Pooled& like) {
  at::manual_seed(11);
  auto output = component<LabelOutput>(output_recipe(recipe), "softmax");
  LabelSet labels{.form = output->form()};
  for (int64_t c = 0; c < classes; ++c) labels.names.push_back(std::to_string(c));
  output->build(like, labels);
  return output;
}

Pooled contexts(std::vector<int64_t> sizes) {
  at::manual_seed(12);
  sizes.push_back(kIn);
  return {.rows = at::randn(sizes).requires_grad_()};
}

/// W c + b of every context, in double.
ScoreRows scores_of(LabelOutput& output, const Pooled& pooled) {
  const auto p = output.named_parameters();
  const Tensor rows = pooled.rows.detach().reshape({-1, kIn});
  ScoreRows all;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    all.emplace_back();
    const Tensor &W = *p.find(p.keys()[0]), &b = *p.find(p.keys()[1]);
    for (int64_t c = 0; c < b.size(0); ++c) {
      double score = b[c].item<double>();
      for (int64_t d = 0; d < kIn; ++d) score += W[c][d].item<double>() * rows[i][d].item<double>();
      all.back().push_back(score);
    }
  }
  return all;
}

double log_sum(const std::vector<double>& scores) {
  double sum = 0;
  for (const double score : scores) sum += std::exp(score);
  return std::log(sum);
}

/// sum_i (1 - s) w_y (-log p_y) + s / C sum_c w_c (-log p_c) over contexts with a label.
double softmax_loss(const ScoreRows& scores, const std::vector<int64_t>& labels, const std::vector<double>& weights,
                    double smoothing) {
  double sum = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (labels[i] == LabelOutput::kNoLabel) continue;
    const auto y = static_cast<size_t>(labels[i]);
    const double log_of_sum = log_sum(scores[i]);
    sum += (1 - smoothing) * weights[y] * (log_of_sum - scores[i][y]);
    for (size_t c = 0; c < scores[i].size(); ++c)
      sum += smoothing / static_cast<double>(scores[i].size()) * weights[c] * (log_of_sum - scores[i][c]);
  }
  return sum;
}

void expect_gradients(const Tensor& loss, LabelOutput& output, const Tensor& rows) {
  loss.backward();
  EXPECT_GT(largest(rows.grad()), 1e-3);
  for (const auto& item : output.named_parameters()) EXPECT_GT(largest(item.value().grad()), 1e-3) << item.key();
}

TEST(SoftmaxLabels, HaveTheLossOfTheirFormula) {
  const Pooled pooled = contexts({3});
  const std::vector<int64_t> labels{2, 0, 2};
  for (const double smoothing : {0.0, 0.25})
    for (const bool weighted : {false, true}) {
      const auto output = output_of("softmax", 3, pooled);
      const std::vector<double> weights = weighted ? std::vector<double>{0.5, 1, 4} : std::vector<double>{1, 1, 1};
      const Tensor loss =
          output->loss(pooled, at::tensor(labels),
                       {.smoothing = smoothing, .weights = weighted ? at::tensor(weights, at::kFloat) : Tensor()});
      EXPECT_NEAR(loss.item<double>(), softmax_loss(scores_of(*output, pooled), labels, weights, smoothing), kFormula);
      expect_gradients(loss, *output, pooled.rows);
    }
}

TEST(SoftmaxLabels, PredictTheirShares) {
  const Pooled pooled = contexts({2});
  const auto output = output_of("softmax", 3, pooled);
  const auto scores = scores_of(*output, pooled);
  const Tensor p = output->predict(pooled);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t c = 0; c < 3; ++c) {
      const auto& own = scores[static_cast<size_t>(i)];
      EXPECT_NEAR(p[i][c].item<double>(), std::exp(own[static_cast<size_t>(c)] - log_sum(own)), kFormula);
    }
}

TEST(TokenLabels, LeaveOutTokensWithoutALabel) {
  constexpr int64_t kNone = LabelOutput::kNoLabel;
  const Pooled pooled = contexts({2, 3});
  const std::vector<int64_t> labels{1, kNone, 0, 2, kNone, kNone};
  for (const double smoothing : {0.0, 0.25})
    for (const bool weighted : {false, true}) {
      const auto output = output_of("token_softmax", 3, pooled);
      const std::vector<double> weights = weighted ? std::vector<double>{0.5, 1, 4} : std::vector<double>{1, 1, 1};
      pooled.rows.mutable_grad() = Tensor();
      const Tensor loss =
          output->loss(pooled, at::tensor(labels).view({2, 3}),
                       {.smoothing = smoothing, .weights = weighted ? at::tensor(weights, at::kFloat) : Tensor()});
      EXPECT_NEAR(loss.item<double>(), softmax_loss(scores_of(*output, pooled), labels, weights, smoothing), kFormula);
      expect_gradients(loss, *output, pooled.rows);
      EXPECT_EQ(largest(pooled.rows.grad()[0][1]), 0);
      EXPECT_EQ(largest(pooled.rows.grad()[1].narrow(0, 1, 2)), 0);
    }
  const auto output = output_of("token_softmax", 3, pooled);
  EXPECT_EQ(output->loss(pooled, at::full({2, 3}, kNone, at::kLong), {}).item<double>(), 0);
  EXPECT_EQ(output->predict(pooled).sizes(), (std::vector<int64_t>{2, 3, 3}));
}

// Smoothing s moves each target by s / 2 towards the other value; a weight applies to both terms of its class.
TEST(SigmoidLabels, HaveTheLossOfTheirFormula) {
  const Pooled pooled = contexts({2});
  const std::vector<float> labels{1, 0, 1, 0, 0, 0};
  for (const double smoothing : {0.0, 0.25})
    for (const bool weighted : {false, true}) {
      const auto output = output_of("sigmoid", 3, pooled);
      const std::vector<double> weights = weighted ? std::vector<double>{0.5, 1, 4} : std::vector<double>{1, 1, 1};
      const Tensor loss =
          output->loss(pooled, at::tensor(labels).view({2, 3}),
                       {.smoothing = smoothing, .weights = weighted ? at::tensor(weights, at::kFloat) : Tensor()});
      double expected = 0;
      const auto scores = scores_of(*output, pooled);
      for (size_t i = 0; i < 2; ++i)
        for (size_t c = 0; c < 3; ++c) {
          const double target = labels[3 * i + c] * (1 - smoothing) + smoothing / 2;
          const double p = 1 / (1 + std::exp(-scores[i][c]));
          expected -= weights[c] * (target * std::log(p) + (1 - target) * std::log(1 - p));
          EXPECT_NEAR(output->predict(pooled)[static_cast<int64_t>(i)][static_cast<int64_t>(c)].item<double>(), p,
                      kFormula);
        }
      EXPECT_NEAR(loss.item<double>(), expected, kFormula);
      expect_gradients(loss, *output, pooled.rows);
    }
}

TEST(RegressionLabel, HasTheSquaredErrorAsItsLoss) {
  const Pooled pooled = contexts({3});
  const auto output = output_of("regression", 0, pooled);
  const std::vector<float> labels{-1, 0.5, 2};
  const Tensor loss = output->loss(pooled, at::tensor(labels), {});
  const auto scores = scores_of(*output, pooled);
  double expected = 0;
  for (size_t i = 0; i < 3; ++i) expected += std::pow(scores[i][0] - labels[i], 2);
  EXPECT_NEAR(loss.item<double>(), expected, kFormula);
  EXPECT_EQ(output->predict(pooled).sizes(), (std::vector<int64_t>{3, 1}));
  expect_gradients(loss, *output, pooled.rows);
}

Pooled capsules(const std::vector<float>& probabilities, const std::vector<float>& similarities, int64_t classes) {
  Pooled pooled{.rows = at::zeros({static_cast<int64_t>(probabilities.size()) / classes, classes * kIn})};
  pooled.output.also["probabilities"] = at::tensor(probabilities).view({-1, classes}).requires_grad_();
  pooled.output.also["similarities"] = at::tensor(similarities).view({-1, classes}).requires_grad_();
  return pooled;
}

// Of the true class 2: x_y = .7, the others .2 and .6; similarities 0, .5 and 1.
//   code    (max(0, 1 - .7 + .2) + max(0, 1 - .7 + .6) + max(0, 1 - 1 + 0) + max(0, 1 - 1 + .5)) / 3 = 1.9 / 3
//   paper   max(0, 1 - .7 + .8) + max(0, 1 - 1 + .5) = 1.6
TEST(CapsuleLabels, HaveTheHingeLossOfTheirFormula) {
  const Pooled like = capsules({.2F, .6F, .7F}, {0, .5F, 1}, 3);
  EXPECT_NEAR(output_of("capsule", 3, like)->loss(like, at::tensor({2}, at::kLong), {}).item<double>(), 1.9 / 3,
              kFormula);
  const Tensor paper = output_of("{kind: capsule, loss: paper}", 3, like)->loss(like, at::tensor({2}, at::kLong), {});
  EXPECT_NEAR(paper.item<double>(), 1.6, kFormula);
  paper.backward();
  EXPECT_TRUE(close(like.output.also.at("probabilities").grad(), at::tensor({1.0, 1.0, -1.0}).view({1, 3})));
}

TEST(CapsuleLabels, SumTheirLossOverTexts) {
  const Pooled both = capsules({.2F, .6F, .9F, .1F}, {0, .5F, 1, 1}, 2);
  const auto output = output_of("capsule", 2, both);
  const double sum = output->loss(both, at::tensor({1, 0}, at::kLong), {}).item<double>();
  double alone = 0;
  for (const auto& [one, label] :
       {std::pair{capsules({.2F, .6F}, {0, .5F}, 2), 1}, {capsules({.9F, .1F}, {1, 1}, 2), 0}})
    alone += output->loss(one, at::tensor({label}, at::kLong), {}).item<double>();
  EXPECT_NEAR(sum, alone, kFormula);
}

TEST(CapsuleLabels, PredictTheShareOfEachCapsule) {
  const Pooled like = capsules({.2F, .6F, 0, 0}, {0, 0, 0, 0}, 2);
  const Tensor p = output_of("capsule", 2, like)->predict(like);
  EXPECT_TRUE(close(p[0], at::tensor({.25, .75}), 1e-6));
  EXPECT_TRUE(p.isfinite().all().item<bool>());
}

TEST(CapsuleLabels, RefuseAStructureWithoutACapsuleForEachClass) {
  EXPECT_TRUE(says(error_of([] { output_of("capsule", 3, contexts({2})); }),
                   {"the structure has no capsules", "capsule(classes=3)"}));
  EXPECT_TRUE(says(error_of([] {
                     output_of("capsule", 3, capsules({.1F, .2F}, {0, 0}, 2));
                   }),
                   {"3 classes, but the structure has 2 capsules"}));
}

}  // namespace
}  // namespace heed::testing
