// The fast search against its definition: autograd of the loss and PyTorch's Adam.

#include "heed/explain/adversarial_search.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/optim/adam.h>

#include "heed/explain/testing_explained.h"

namespace heed {
namespace {

Tensor distributions(at::IntArrayRef shape) {
  return at::randn(shape, at::kDouble).softmax(-1);  // none so small that 1e-10 inside a logarithm counts
}

TEST(AdversarialSearch, GradientOfDivergencesIsThatOfTheLoss) {
  at::manual_seed(3);
  const Tensor weights = distributions({3, 4, 2, 6}).requires_grad_(), own = distributions({3, 2, 6});
  const Tensor outputs = at::zeros({3, 4, 2, 5}, at::kDouble), own_outputs = at::zeros({3, 2, 5}, at::kDouble);
  const Tensor loss = adversarial_loss(weights, own, outputs, own_outputs, at::ones({3, 2}, at::kBool), 0.01);
  const Tensor expected = torch::autograd::grad({loss}, {weights})[0];
  EXPECT_TRUE(at::allclose(divergence_gradient(weights.detach(), own), expected, 0, 1e-7));
}

TEST(AdversarialSearch, GradientOfSparseWeightsIsFinite) {
  const Tensor own = at::tensor({1.0, 0.0, 0.0}, at::kDouble).view({1, 1, 3});
  const Tensor weights = at::tensor({0.0, 1.0, 0.0, 0.0, 0.5, 0.5}, at::kDouble).view({1, 2, 1, 3});
  EXPECT_TRUE(at::isfinite(divergence_gradient(weights, own)).all().item<bool>());
}

TEST(AdversarialSearch, LossIsByHand) {
  // One text, k = 2: JSD log 2 and 0 to the own weights; log 2 between them, for 2 of 4 pairs.
  const Tensor own = at::tensor({1.0, 0.0}, at::kDouble).view({1, 1, 2});
  const Tensor weights = at::tensor({0.0, 1.0, 1.0, 0.0}, at::kDouble).view({1, 2, 1, 2});
  const Tensor outputs = at::tensor({0.6, 0.4, 0.5, 0.5}, at::kDouble).view({1, 2, 1, 2});
  const Tensor own_outputs = at::tensor({0.5, 0.5}, at::kDouble).view({1, 1, 2});
  const double log2 = std::log(2.0), expected = 500 * (0.2 - 0.01) - log2 - log2 / 2;
  const Tensor counted = at::ones({1, 1}, at::kBool);
  EXPECT_NEAR(adversarial_loss(weights, own, outputs, own_outputs, counted, 0.01).item<double>(), expected, 1e-8);
  EXPECT_EQ(adversarial_loss(weights, own, outputs, own_outputs, counted.logical_not(), 0.01).item<double>(), 0);
}

TEST(AdversarialSearch, AdamIsThatOfPyTorch) {
  at::manual_seed(5);
  Tensor found = at::randn({4, 3}, at::kDouble);
  const Tensor expected = found.clone().requires_grad_();
  torch::optim::Adam adam({expected}, torch::optim::AdamOptions(0.01).amsgrad(true));
  AmsgradAdam own(0.01);
  for (int step = 0; step < 30; ++step) {
    const Tensor gradient = at::randn({4, 3}, at::kDouble) * (step < 10 ? 5 : 1);  // amsgrad keeps the large ones
    expected.mutable_grad() = gradient;
    adam.step();
    own.step(found, gradient);
  }
  EXPECT_TRUE(at::allclose(found, expected.detach(), 0, 1e-12));
}

/// The same search by definition, one text after another.
AdversarialWeights plain_search(ExplainedBatch& batch, int64_t row, const Tensor& first, const Tensor& own,
                                const Tensor& positions, const AdversarialOptions& options) {
  const int64_t k = first.size(1), P = first.size(2), T = first.size(3);
  const Tensor logits = first.clone().requires_grad_();
  torch::optim::Adam adam({logits}, torch::optim::AdamOptions(options.rate).amsgrad(true));
  const Tensor rows = at::full({k}, row, at::kLong), own_outputs = batch.outputs.narrow(0, row, 1);
  for (int64_t step = 0; step < options.steps; ++step) {
    const Tensor weights = logits.softmax(-1);
    const Tensor outputs = batch.outputs_with(rows, weights.view({k, P, T})).view({1, k, P, -1});
    adam.zero_grad();
    adversarial_loss(weights, own, outputs, own_outputs, positions, options.epsilon).backward();
    adam.step();
  }
  return {logits.detach().softmax(-1), {}};
}

TEST(AdversarialSearch, IsThatOfItsDefinition) {
  const auto model = std::make_unique<testing::MadeModel>(
      std::vector<testing::MadeToken>{{"yes", 1, {0, 1}}, {"no", 0, {1, 0}}, {"so", 0.5, {0.2, 0.4}}},
      std::vector<std::string>{"yes no so yes", "no so yes"}, testing::MadeOptions{.positions = 2, .ends = {2, 1}});
  const auto batch = model->read({0, 1});
  AdversarialOptions options{.steps = 0, .distributions = 3};
  const auto start = adversarial_weights(*batch, model->facts(), {0, 1}, batch->weights, batch->positions, 7, options);
  options.steps = 60;
  const auto found = adversarial_weights(*batch, model->facts(), {0, 1}, batch->weights, batch->positions, 7, options);
  EXPECT_GT((found.weights - start.weights).abs().max().item<double>(), 0.02);
  for (const int64_t row : {0, 1}) {
    const auto plain = plain_search(*batch, row, start.weights.narrow(0, row, 1).log(),
                                    batch->weights.narrow(0, row, 1), batch->positions.narrow(0, row, 1), options);
    const Tensor counted = batch->positions.narrow(0, row, 1).unsqueeze(1).unsqueeze(-1);
    EXPECT_TRUE(at::allclose(found.weights.narrow(0, row, 1) * counted, plain.weights * counted, 0, 1e-3));
  }
}

TEST(AdversarialSearch, FirstWeightsAreSpreadAndDependOnTheItem) {
  const auto model = testing::faithful_model();
  const auto both = model->read({0, 3}), one = model->read({3});
  const AdversarialOptions options{.steps = 0};
  const auto search = [&](ExplainedBatch& batch, const std::vector<int64_t>& rows, uint64_t seed) {
    const Tensor own = normalized(batch.weights);
    const Tensor some = own.index_select(0, at::tensor(rows, at::kLong));
    return adversarial_weights(batch, model->facts(), rows, some, at::ones({std::ssize(rows), 1}, at::kBool), seed,
                               options)
        .weights;
  };
  const Tensor found = search(*both, {0, 1}, 1);
  EXPECT_TRUE(at::allclose(found.sum(-1), at::ones({2, 5, 1})));
  EXPECT_TRUE(at::equal(found.narrow(0, 1, 1), search(*one, {0}, 1)));
  EXPECT_FALSE(at::allclose(found.narrow(0, 1, 1), search(*one, {0}, 2)));
  EXPECT_GT(found.select(0, 0).amax(-1).mean().item<double>(), 0.5);  // equal weights have .25
}

}  // namespace
}  // namespace heed
