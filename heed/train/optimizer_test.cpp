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

/// A step as data on one device: five steps, then one that is not finite and one after it.
struct FlatRun {
  Tensor values, average, stats, loss;
  Optimizer::State state{};

  FlatRun(const Tensor& start, at::Device device)
      : values(start.to(device, /*non_blocking=*/false, /*copy=*/true)),
        average(values.clone()),
        stats(at::zeros({3}, values.options().dtype(at::kDouble))),
        loss(at::full({1}, 6.0, stats.options())) {}

  void step(const Optimizer& optimizer, const Tensor& grads, int64_t number,
            void (*by)(const FlatUpdate&, const FlatTensors&, double)) {
    const FlatUpdate update = optimizer.update(state, values);
    const FlatNumbers numbers = flat_numbers(update, 0.5, 0.1, number, 0.25);
    const Tensor sent = at::tensor(at::ArrayRef<double>(numbers.data(), numbers.size()), at::kDouble);
    by(update,
       {.values = values,
        .grads = grads,
        .average = average,
        .loss = loss,
        .numbers = sent.to(values.device()),
        .stats = stats},
       /*clip_norm=*/0.7);
  }
};

const std::vector<std::string> kFlatSpecs{"adam(0.8, 0.95)", "adamw(weight_decay=0.2)", "sgd(0.9)", "sgd"};

void expect_formula(void (*by)(const FlatUpdate&, const FlatTensors&, double)) {
  for (const auto& spec : kFlatSpecs) {
    SCOPED_TRACE(spec);
    const auto part = Catalogue<Optimizer>::make(spec);
    FlatRun run(at::linspace(-1, 2, 6, at::kDouble), at::kCPU);
    auto values = run.values.clone(), average = values.clone();
    Optimizer::State state;
    for (int64_t number = 1; number <= 5; ++number) {
      const auto grads = (values - 1).pow(3) * (number == 4 ? 0.1 : 1.0);  // once below clip_norm
      run.step(*part, grads, number, by);
      auto g = 0.5 * grads;
      const double norm = g.norm().item<double>();
      if (norm > 0.7) g = g * (0.7 / norm);
      part->step(state, values, g, 0.1, number);
      average = average + 0.25 * (values - average);
      EXPECT_TRUE(at::allclose(run.values, values, 1e-12, 1e-12)) << "step " << number;
      EXPECT_TRUE(at::allclose(run.average, average, 1e-12, 1e-12)) << "step " << number;
      EXPECT_NEAR(run.stats[0].item<double>(), 3, 1e-12);
      EXPECT_NEAR(run.stats[1].item<double>(), norm, 1e-12);
      EXPECT_EQ(run.stats[2].item<double>(), 0);
    }
  }
}

TEST(FlatStep, ScalesClipsStepsAndAverages) {
  expect_formula(flat_step_by_torch);
  expect_formula(flat_step);
}

/// The gradient, or the loss, of step 2 is not finite; steps 2 and 3 change nothing.
void expect_halted(at::Device device, bool in_loss, void (*by)(const FlatUpdate&, const FlatTensors&, double)) {
  for (const auto& spec : kFlatSpecs) {
    SCOPED_TRACE(spec);
    const auto part = Catalogue<Optimizer>::make(spec);
    FlatRun run(at::linspace(-1, 2, 3000, at::kFloat), device);
    const auto grads = at::ones_like(run.values);
    run.step(*part, grads, 1, by);
    const auto before = run.values.clone(), average = run.average.clone();
    auto bad = grads.clone();
    if (in_loss)
      run.loss.fill_(INFINITY);
    else
      bad[2777] = NAN;
    run.step(*part, bad, 2, by);
    EXPECT_FALSE(at::isfinite(run.stats.narrow(0, 0, 2)).all().item<bool>());
    run.loss.fill_(6);
    run.step(*part, grads, 3, by);
    EXPECT_EQ(run.stats[2].item<double>(), 1);
    EXPECT_TRUE(at::equal(run.values, before));
    EXPECT_TRUE(at::equal(run.average, average));
  }
}

TEST(FlatStep, ChangesNothingFromTheFirstStepOnThatIsNotFinite) {
  for (const bool in_loss : {false, true})
    for (const auto by : {flat_step_by_torch, flat_step}) expect_halted(at::kCPU, in_loss, by);
}

TEST(FlatStepOnCuda, HaltsToo) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  for (const bool in_loss : {false, true}) expect_halted(at::kCUDA, in_loss, flat_step);
}

void expect_torch(at::Device device) {
  for (const auto& spec : kFlatSpecs)
    for (const int64_t count : {1, 255, 4097, 3000001}) {
      SCOPED_TRACE(spec + " of " + std::to_string(count));
      const auto part = Catalogue<Optimizer>::make(spec);
      at::manual_seed(1);
      const auto start = at::randn({count}), grads = at::randn({count});
      FlatRun here(start, at::kCPU), there(start, device), again(start, device);
      for (int64_t number = 1; number <= 3; ++number) {
        here.step(*part, grads, number, flat_step_by_torch);
        there.step(*part, grads.to(device), number, flat_step);
        again.step(*part, grads.to(device), number, flat_step);
      }
      // Where a gradient is as small as Adam's epsilon, a step depends on the last bits of the norm.
      const auto off = [](const at::Tensor& x, const at::Tensor& y) {
        return (x.cpu() - y).abs().max().item<double>();
      };
      EXPECT_LE(off(there.values, here.values), 1e-5);
      EXPECT_LE(off(there.average, here.average), 1e-5);
      EXPECT_TRUE(at::allclose(there.stats.cpu(), here.stats, 1e-4, 1e-9)) << there.stats << here.stats;
      EXPECT_TRUE(at::equal(there.values, again.values));
      EXPECT_TRUE(at::equal(there.stats, again.stats));
    }
}

TEST(FlatStep, IsThatOfTorchAndTheSameBitsEachTime) {
  expect_torch(at::kCPU);
}

TEST(FlatStepOnCuda, IsThatOfTorchAndTheSameBitsEachTime) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  expect_torch(at::kCUDA);
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

TEST(FlatParameters, GivesGradientsWhereTheyLie) {
  torch::nn::Linear layer(3, 2);
  FlatParameters flat(*layer);
  flat.zero_gradients();
  layer(at::ones({4, 3})).sum().backward();
  const auto parts = flat.gradients_of_parts();
  ASSERT_EQ(parts.size(), 2);
  EXPECT_EQ(parts[0].first, 6);
  EXPECT_TRUE(parts[0].second.is_same(layer->weight.grad()));  // on the CPU autograd hands it over
  flat.zero_gradients();
  at::linear(at::ones({4, 3}), layer->weight).sum().backward();
  EXPECT_FALSE(flat.gradients_of_parts()[1].second.defined());
  flat.gather_gradients();
  EXPECT_EQ(flat.grads()[7].item<float>(), 0);
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
