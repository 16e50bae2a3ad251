#include "heed/train/optimizer.h"

#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include "heed/attention/testing.h"
#include "heed/train/flat_parameters.h"

namespace heed::testing {
namespace {

/// Compares five steps on (x - 1)^4 / 4 from the same start with torch's optimizer.
template <typename Theirs, typename Options>
void expect_as_torch(const std::string& spec, const Options& options) {
  const auto start = at::linspace(-1, 2, 6, at::kDouble);
  auto theirs = start.clone().requires_grad_();
  Theirs torchs(std::vector<Tensor>{theirs}, options);
  auto ours = start.clone();
  const auto part = Catalogue<Optimizer>::make(spec);
  Optimizer::State state;
  for (int64_t step = 1; step <= 5; ++step) {
    torchs.zero_grad();
    ((theirs - 1).pow(4) / 4).sum().backward();
    torchs.step();
    part->step(state, ours, (ours - 1).pow(3), 0.1, step);
  }
  EXPECT_TRUE(at::allclose(ours, theirs.detach(), 1e-9, 1e-9)) << ours << theirs;
}

TEST(Optimizer, StepsAsThoseOfTorch) {
  expect_as_torch<torch::optim::Adam>("adam(0.8, 0.95)",
                                      torch::optim::AdamOptions(0.1).betas(std::make_tuple(0.8, 0.95)).eps(1e-8));
  expect_as_torch<torch::optim::AdamW>(
      "adamw(0.9, 0.99, weight_decay=0.2)",
      torch::optim::AdamWOptions(0.1).betas(std::make_tuple(0.9, 0.99)).eps(1e-8).weight_decay(0.2));
  expect_as_torch<torch::optim::SGD>("sgd(0.9)", torch::optim::SGDOptions(0.1).momentum(0.9));
  expect_as_torch<torch::optim::SGD>("sgd", torch::optim::SGDOptions(0.1));
}

TEST(Optimizer, RefusesInvalidSpecs) {
  for (const char* spec : {"adam(1.5)", "adam(weight_decay=-1)", "sgd(momentum=1)", "adm", "adam(speed=3)"})
    EXPECT_THROW(Catalogue<Optimizer>::make(spec), Error) << spec;
}

TEST(FlatParameters, AreViewsOfOneTensorAndSoAreTheirGradients) {
  torch::nn::Linear layer(3, 2);
  const auto before = layer->weight.detach().clone();
  FlatParameters flat(*layer);
  EXPECT_EQ(flat.count(), 8);
  EXPECT_TRUE(layer->weight.detach().equal(before));
  for (int pass = 0; pass < 2; ++pass) {
    flat.zero_gradients();
    layer(at::ones({4, 3})).sum().backward();
    flat.gather_gradients();
    EXPECT_TRUE(flat.grads().equal(at::full({8}, 4.0F))) << flat.grads();
  }
  flat.values().fill_(2);
  EXPECT_EQ(layer->bias[1].item<float>(), 2);
  EXPECT_EQ(flat.not_finite(), "");
  flat.grads()[7] = NAN;
  EXPECT_EQ(flat.not_finite(), "bias");
}

TEST(FlatParameters, CopiesBackGradientsOfOtherTensors) {
  torch::nn::Linear layer(2, 1);
  FlatParameters flat(*layer);
  layer->weight.mutable_grad() = at::ones({1, 2});
  flat.gather_gradients();
  EXPECT_EQ(flat.grads().sum().item<float>(), 2);
  EXPECT_TRUE(layer->weight.grad().is_alias_of(flat.grads()));
}

}  // namespace
}  // namespace heed::testing
