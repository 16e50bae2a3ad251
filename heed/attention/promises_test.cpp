// Promises: properties tested for every score x alignment x dimensionality of the catalogue, on the composed path and,
// where there is a kernel, on the fused path, with every kind of mask. New parts are included automatically.

#include <thread>

#include "heed/attention/normalize.h"
#include "heed/attention/testing.h"
#include "heed/backend/reference.h"
#include "heed/kernels/reference/testing.h"

namespace heed::testing {
namespace {

namespace reference = kernels::reference;

struct OnPath {
  std::string spec;
  Path path;
  friend void PrintTo(const OnPath& x, std::ostream* out) { *out << x.spec << ", " << heed::to_string(x.path); }
};

std::vector<OnPath> on(Path path, const std::vector<std::string>& mechanisms) {
  std::vector<OnPath> all;
  for (const auto& spec : mechanisms) all.push_back({spec, path});
  return all;
}

class EveryMechanism : public ::testing::TestWithParam<OnPath> {
 protected:
  std::string to_string() const { return GetParam().spec; }
  Path path() const { return GetParam().path; }
  bool defined() const { return reference::missing(parse_mechanism(to_string())).empty(); }

  Case make(const std::string& mask = "none", const Lengths& n = {}, bool biased = true,
            PerHead which = PerHead::even) const {
    Case c = make_case(to_string(), mask, n, biased, kDouble, which);
    c.call.path = path();
    return c;
  }
  Outputs all() const { return everything(Mechanism::parse(to_string()), path()); }
  /// Requests the weights, if this path has them.
  Outputs weights() const { return {.weights = all().weights}; }
  Tensor loss(const Attended& a) const { return loss_of(a); }
};
/// Properties of the composed path alone: blocks, and computations that fused calls leave to it.
class EveryComposition : public EveryMechanism {};
/// Properties of the arithmetic of kernels.
class EveryFusion : public EveryMechanism {};

const auto path_test_name = [](const ::testing::TestParamInfo<OnPath>& info) { return name_of(info.param.spec); };
INSTANTIATE_TEST_SUITE_P(Composed, EveryMechanism, ::testing::ValuesIn(on(Path::composed, every_mechanism())),
                         path_test_name);
INSTANTIATE_TEST_SUITE_P(Fused, EveryMechanism, ::testing::ValuesIn(on(Path::fused, every_mechanism_with_a_kernel())),
                         path_test_name);
INSTANTIATE_TEST_SUITE_P(Composed, EveryComposition, ::testing::ValuesIn(on(Path::composed, every_mechanism())),
                         path_test_name);
INSTANTIATE_TEST_SUITE_P(Fused, EveryFusion, ::testing::ValuesIn(on(Path::fused, every_mechanism_with_a_kernel())),
                         path_test_name);

/// The mask of a case, bool [B, H, Lq, Lk, 1].
Tensor kept_of(const Case& c) {
  const BlockRange whole{0, 0, c.query.size(2), c.keys.size(2), c.mechanism.score().max_keys()};
  const auto keep = kept(c.call.mask, whole, c.query.size(2), at::kCPU);
  return keep.expand({c.query.size(0), c.query.size(1), c.query.size(2), c.keys.size(2), 1});
}

Tensor with_width(const Case& c, const Tensor& x) {
  return c.mechanism.dimensionality() == Dimensionality::single ? x.unsqueeze(-1) : x;
}

TEST_P(EveryMechanism, AgreesWithTheDefinition) {
  if (!defined()) GTEST_SKIP() << "no definition in kernels/reference";
  PerHead which = PerHead::even;
  for (const auto& mask : kMasks) {
    which = next(which);
    for (const bool sample : {true, false}) {
      SCOPED_TRACE(mask + (sample ? ", sampled" : ", decided"));
      auto c = make(mask, {}, /*biased=*/true, which = next(which));
      c.call.noise.sample = sample;
      c.call.noise.dropout = sample ? 0.3 : 0;
      c.call.outputs = all();
      c.call.outputs.column_mass = all().weights;
      c.call.outputs.top = all().weights ? 3 : 0;
      const at::NoGradGuard no_grad;
      const auto found = c.run();
      c.call.path = Path::reference;
      const auto definition = c.run();
      EXPECT_TRUE(close(found.context, definition.context));
      EXPECT_TRUE(close(found.weights, definition.weights));
      EXPECT_TRUE(close(found.lse, definition.lse));
      EXPECT_TRUE(close(found.entropy, definition.entropy));
      EXPECT_TRUE(close(found.column_mass, definition.column_mass));
      EXPECT_TRUE(close(found.top_weights, definition.top_weights));
      EXPECT_TRUE(close(found.log_probability, definition.log_probability));
      EXPECT_TRUE(close(found.selected, definition.selected));
    }
  }
}

TEST_P(EveryMechanism, AgreesWithTheDefinitionAtAnyFirstQuery) {
  if (!defined()) GTEST_SKIP() << "no definition in kernels/reference";
  for (const std::string position : {"more queries than keys", "a later step"}) {
    SCOPED_TRACE(position);
    const bool later = position == "a later step";
    auto c = make(later ? "window" : "bottom_right", later ? Lengths{1, 2, 2, 2, 7} : Lengths{1, 2, 1, 6, 3});
    c.call.mask.first_query = later ? 3 : 0;
    c.call.outputs = weights();
    const auto found = c.run();
    c.call.path = Path::reference;
    const auto definition = c.run();
    EXPECT_TRUE(close(found.context, definition.context));
    EXPECT_TRUE(close(found.weights, definition.weights));
    EXPECT_TRUE(close(found.selected_share, definition.selected_share));
  }
}

TEST_P(EveryComposition, AgreesWithTheDefinitionInFloat) {
  if (!defined()) GTEST_SKIP() << "no definition in kernels/reference";
  auto c = make_case(to_string(), "keep", {}, /*biased=*/true, at::TensorOptions().dtype(at::kFloat), PerHead::odd);
  c.call.outputs = everything(c.mechanism);
  const auto composed = c.run();
  EXPECT_EQ(composed.context.scalar_type(), at::kFloat);
  c.call.path = Path::reference;
  const auto definition = c.run();
  EXPECT_TRUE(close(composed.context, definition.context, 2e-5));
  EXPECT_TRUE(close(composed.weights, definition.weights, 2e-5));
}

/// The directional derivative of loss_of along `way` with respect to the input `name`, by the complex step method on
/// the definition.
double gradient_by_definition(const Case& c, const std::string& name, const Tensor& way) {
  auto moved =
      reference::to_complex(problem_of(normalize(c.query, c.keys, c.values, c.mechanism, c.parameters, c.call)));
  const auto steps = way.contiguous();
  auto& data = reference::inputs(moved).at(name)->data;
  for (size_t i = 0; i < data.size(); ++i)
    data[i] += reference::Complex(0, reference::kStep * steps.data_ptr<double>()[i]);
  const auto answer = reference::attend(moved);
  double grad = 0, shift = 0;
  const auto add = [&](const reference::Array<reference::Complex>& array, bool wanted) {
    for (size_t i = 0; wanted && i < array.data.size(); ++i)
      grad += std::cos(static_cast<double>(i) + shift) * array.data[i].imag() / reference::kStep;
    shift += 1;
  };
  add(answer.context, true);
  add(answer.weights, c.call.outputs.weights);
  add(answer.lse, c.call.outputs.lse);
  add(answer.entropy, c.call.outputs.entropy);
  add(answer.log_probability, true);
  return grad;
}

TEST_P(EveryMechanism, HasTheGradientOfTheDefinition) {
  if (!defined()) GTEST_SKIP() << "no definition in kernels/reference";
  for (const auto& [mask, which] : {std::pair{"none", PerHead::even}, {"all", PerHead::odd}}) {
    SCOPED_TRACE(mask);
    auto c = make(mask, {}, /*biased=*/true, which);
    c.call.noise.dropout = 0.2;
    c.call.outputs = path() == Path::fused ? everything(c.mechanism, Path::fused) : all();
    const auto found = gradients(loss(c.run()), c.tensors());
    const auto leaves = c.leaves();
    for (size_t i = 0; i < leaves.size(); ++i) {
      const auto way = at::randn(leaves[i].second.sizes(), kDouble);
      const double grad = gradient_by_definition(c, leaves[i].first, way);
      const double ours = found[i].defined() ? (found[i] * way).sum().item<double>() : 0;
      EXPECT_NEAR(ours, grad, 1e-8 * (1 + std::abs(grad))) << leaves[i].first;
    }
  }
}

TEST_P(EveryComposition, HasTheGradientOfCentralDifferences) {
  auto c = make_case(to_string(), "keep", {}, /*biased=*/true, kDouble, PerHead::odd);
  c.call.outputs = everything(c.mechanism);
  c.call.outputs.entropy = false;  // a ln a has unbounded curvature at 0; the complex step covers it
  const bool surrogate = to_string().find("straight_through") != std::string::npos;
  if (surrogate) GTEST_SKIP() << "its gradient is that of its stated surrogate, see HasTheGradientOfTheDefinition";
  const auto leaves = c.leaves();
  const auto found = gradients(loss_of(c.run()), c.tensors());
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const auto way = at::randn(leaves[i].second.sizes(), kDouble);
    constexpr double h = 1e-6;
    auto x = leaves[i].second.detach();
    x.add_(way, h);
    const double up = loss_of(c.run()).item<double>();
    x.sub_(way, 2 * h);
    const double down = loss_of(c.run()).item<double>();
    x.add_(way, h);
    const double ours = found[i].defined() ? (found[i] * way).sum().item<double>() : 0;
    EXPECT_NEAR(ours, (up - down) / (2 * h), 1e-6 * (1 + std::abs(ours))) << leaves[i].first;
  }
}

TEST_P(EveryMechanism, GivesTheSameOnTheStoredPathToTheSecondDerivative) {
  const auto second = [&](Path which) {
    auto c = make("keep", {2, 2, 1, 3, 5}, /*biased=*/true, PerHead::odd);
    c.call.path = which;
    c.call.outputs = all();
    const auto first = gradients(loss_of(c.run()), c.tensors(), /*create_graph=*/true);
    Tensor sum = at::zeros({}, kDouble);
    for (const auto& x : first)
      if (x.defined()) sum = sum + (x * waves(x)).sum();
    auto all = gradients(sum, c.tensors());
    all.insert(all.end(), first.begin(), first.end());
    return all;
  };
  const auto ours = second(path()), stored = second(Path::stored);
  for (size_t i = 0; i < ours.size(); ++i) {
    const auto zero = [&](const Tensor& x) {
      return x.defined() ? x : at::zeros_like(ours[i].defined() ? ours[i] : stored[i]);
    };
    if (!ours[i].defined() && !stored[i].defined()) continue;
    EXPECT_TRUE(close(zero(ours[i]), zero(stored[i]))) << i;
  }
}

TEST_P(EveryComposition, HasTheSecondDerivativeOfCentralDifferences) {
  const auto parts = parse_mechanism(to_string());
  const bool smooth = parts.align.name == "softmax" || parts.align.name == "sparsemax" || parts.align.name == "entmax";
  if (!smooth) GTEST_SKIP() << "for softmax, sparsemax and entmax";
  auto c = make_case(to_string(), "keep", {1, 2, 2, 3, 5});
  const auto leaves = c.leaves();
  const auto gradient_sum = [&](bool graph) {
    Tensor sum = at::zeros({}, kDouble);
    for (const auto& x : gradients(loss_of(c.run()), c.tensors(), graph))
      if (x.defined()) sum = sum + (x * waves(x)).sum();
    return sum;
  };
  const auto found = gradients(gradient_sum(true), c.tensors());
  for (size_t i = 0; i < leaves.size(); ++i) {
    const auto way = at::randn(leaves[i].second.sizes(), kDouble);
    constexpr double h = 1e-6;
    auto x = leaves[i].second.detach();
    x.add_(way, h);
    const double up = gradient_sum(false).item<double>();
    x.sub_(way, 2 * h);
    const double down = gradient_sum(false).item<double>();
    x.add_(way, h);
    const double ours = found[i].defined() ? (found[i] * way).sum().item<double>() : 0;
    EXPECT_NEAR(ours, (up - down) / (2 * h), 2e-5 * (1 + std::abs(ours))) << leaves[i].first;
  }
}

TEST_P(EveryMechanism, GivesAMaskedKeyNoWeight) {
  const at::NoGradGuard no_grad;
  for (const auto& mask : kMasks) {
    SCOPED_TRACE(mask);
    auto c = make(mask);
    c.call.outputs = weights();
    if (!c.call.outputs.weights) GTEST_SKIP() << "no weights for every channel";
    EXPECT_EQ(largest(with_width(c, c.run().weights).masked_fill(kept_of(c), 0.0)), 0.0);
  }
}

TEST_P(EveryMechanism, GivesAMaskedKeyNoGradient) {
  for (const auto& mask : {"keep", "key_count", "all"}) {
    SCOPED_TRACE(mask);
    auto c = make(mask);
    c.call.outputs = all();
    const auto keep = kept_of(c).squeeze(-1);
    const auto found = gradients(loss(c.run()), {c.keys, c.values, c.call.bias.full});
    const auto nobody = keep.any(2).logical_not().unsqueeze(-1);  // [B, H, Lk, 1]
    const auto no_head = keep.any(1, true).logical_not();         // [B, 1, Lq, Lk]
    for (size_t i = 0; i < 3; ++i) {
      if (!found[i].defined()) continue;
      EXPECT_EQ(largest(found[i].masked_fill((i < 2 ? nobody : no_head).logical_not(), 0.0)), 0.0) << i;
    }
  }
}

TEST_P(EveryMechanism, LeavesAFullyMaskedQueryAtZeroWithNoGradient) {
  auto c = make("keep");
  c.call.outputs = all();
  const auto a = c.run();
  EXPECT_EQ(largest(a.context.select(2, 1)), 0.0);
  if (a.weights.defined()) {
    EXPECT_EQ(largest(a.weights.select(2, 1)), 0.0);
  }
  if (a.lse.defined()) {
    EXPECT_TRUE((a.lse.select(2, 1) == -INFINITY).all().item<bool>());
  }
  if (a.entropy.defined()) {
    EXPECT_EQ(largest(a.entropy.select(2, 1)), 0.0);
  }
  if (a.log_probability.dim() > 2) {
    EXPECT_EQ(largest(a.log_probability.select(2, 1)), 0.0);
  }
  const auto found = gradients(loss(a), {c.query})[0];
  if (found.defined()) {
    EXPECT_EQ(largest(found.select(2, 1)), 0.0);
  }
}

TEST_P(EveryMechanism, KeepsNaNInPaddingFromOutputsAndGradients) {
  for (const auto& [mask, bad] : {std::pair{"keep", std::nan("")}, {"key_count", HUGE_VAL}, {"all", std::nan("")}}) {
    SCOPED_TRACE(mask);
    auto clean = make(mask), dirty = make(mask);
    {
      const at::NoGradGuard no_grad;
      const auto keep = kept_of(dirty).squeeze(-1);
      const auto nobody = keep.any(2).logical_not().unsqueeze(-1), nothing = keep.any(3, true).logical_not();
      for (auto& x : {dirty.keys, dirty.values}) x.masked_fill_(nobody, bad);
      dirty.query.masked_fill_(nothing, bad);
      EXPECT_TRUE(nobody.any().item<bool>());
    }
    clean.call.outputs = dirty.call.outputs = all();
    const auto a = clean.run(), b = dirty.run();
    EXPECT_TRUE(same_bits(a.context, b.context));
    EXPECT_TRUE(same_bits(a.weights, b.weights));
    EXPECT_TRUE(same_bits(a.lse, b.lse));
    EXPECT_TRUE(same_bits(a.entropy, b.entropy));
    EXPECT_TRUE(same_bits(a.log_probability, b.log_probability));
    const auto expected = gradients(loss(a), clean.tensors()), found = gradients(loss(b), dirty.tensors());
    const auto names = clean.leaves();
    for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(same_bits(expected[i], found[i])) << names[i].first;
  }
}

TEST_P(EveryMechanism, PropagatesNaNScoresAsTheDefinitionDoes) {
  if (!defined()) GTEST_SKIP() << "no definition in kernels/reference";
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    SCOPED_TRACE(bad);
    auto c = make();
    c.call.noise.sample = false;
    c.call.bias.full = c.call.bias.full.detach().clone();
    c.call.bias.full[0][0][2][1].fill_(bad);
    c.call.outputs = weights();
    const auto found = c.run();
    c.call.path = Path::reference;
    const auto definition = c.run();
    const auto ours = found.weights.defined() ? found.weights : found.context;
    const auto expected = found.weights.defined() ? definition.weights : definition.context;
    EXPECT_TRUE(ours.isnan().equal(expected.isnan()));
    EXPECT_TRUE(close(ours.nan_to_num(), expected.nan_to_num()));
  }
}

TEST_P(EveryMechanism, KeepsBatchElementsApart) {
  auto c = make("keep");
  c.call.outputs = all();
  const auto together = c.run();
  {
    const at::NoGradGuard no_grad;
    for (auto& x : {c.query, c.keys, c.values}) x.select(0, 0).fill_(100);
  }
  const auto other = c.run();
  EXPECT_TRUE(same_bits(together.context.select(0, 1), other.context.select(0, 1)));
  const bool shown = c.call.outputs.weights;
  if (shown) {
    EXPECT_TRUE(same_bits(together.weights.select(0, 1), other.weights.select(0, 1)));
  }

  // Alone, as element 1 of the global batch, it draws the same numbers.
  Call call = c.call;
  call.mask.keep = c.call.mask.keep.narrow(0, 1, 1);
  call.bias.full = c.call.bias.full.narrow(0, 1, 1);
  call.noise.first_row = 1;
  const auto alone = attend(c.query.narrow(0, 1, 1), c.keys.narrow(0, 1, 1), c.values.narrow(0, 1, 1), c.mechanism,
                            c.parameters, call);
  EXPECT_TRUE(close(alone.context[0], together.context[1], 1e-12));
  if (shown) {
    EXPECT_TRUE(close(alone.weights[0], together.weights[1], 1e-12));
  }
}

TEST_P(EveryMechanism, DoesNotDependOnTheOrderOfKeys) {
  const auto m = Mechanism::parse(to_string());
  if (m.score().positional() || m.align().positional()) GTEST_SKIP() << "position plays a part";
  auto c = make("keep", {}, /*biased=*/false);
  c.call.noise.sample = false;  // random numbers are indexed by position
  const auto before = c.run().context;
  const auto order = at::tensor(std::vector<int64_t>{3, 6, 0, 5, 1, 4, 2});
  c.keys = c.keys.detach().index_select(2, order);
  c.values = c.values.detach().index_select(2, order);
  c.call.mask.keep = c.call.mask.keep.index_select(3, order);
  EXPECT_TRUE(close(c.run().context, before));
}

TEST_P(EveryComposition, GivesTheSameInBlocksOfAnySize) {
  auto c = make_case(to_string(), "all");
  c.call.noise.dropout = 0.25;
  c.call.outputs = everything(c.mechanism);
  c.call.outputs.column_mass = true;
  c.call.block_bytes = 1 << 24;
  const auto whole = c.run();
  EXPECT_EQ(whole.plan.block_queries, 5);
  for (const int64_t bytes : {1, 20000}) {
    c.call.block_bytes = bytes;
    const auto parts = c.run();
    EXPECT_TRUE(close(parts.context, whole.context, 1e-12));
    EXPECT_TRUE(close(parts.weights, whole.weights, 1e-12));
    EXPECT_TRUE(close(parts.column_mass, whole.column_mass, 1e-12));
  }
}

TEST_P(EveryMechanism, SharesKeysAmongHeadsAsIfTheyWereRepeated) {
  for (const PerHead which : kPerHead) {
    auto shared = make("keep", {2, 4, 2, 5, 7}, /*biased=*/true, which);
    shared.call.outputs = all();
    auto repeated = shared;
    repeated.keys = shared.keys.detach().repeat_interleave(2, 1).requires_grad_();
    repeated.values = shared.values.detach().repeat_interleave(2, 1).requires_grad_();
    const auto a = shared.run(), b = repeated.run();
    EXPECT_TRUE(close(a.context, b.context, 1e-12));
    EXPECT_TRUE(close(a.weights, b.weights, 1e-12));
    const auto found = gradients(loss(a), {shared.keys, shared.values}),
               expected = gradients(loss(b), {repeated.keys, repeated.values});
    for (size_t i = 0; i < 2; ++i)
      if (expected[i].defined()) {
        EXPECT_TRUE(close(found[i], expected[i].unflatten(1, {2, 2}).sum(2))) << i;
      }
  }
}

TEST_P(EveryMechanism, ReturnsTheRequestedPartsOfTheWeights) {
  auto c = make("keep");
  c.call.outputs = weights();
  if (!c.call.outputs.weights) GTEST_SKIP() << "no weights for every channel";
  const auto all = c.run().weights;
  c.call.outputs.rows = {4, 0, 4};
  c.call.outputs.heads = {1};
  c.call.outputs.column_mass = true;
  c.call.outputs.top = 9;
  if (c.mechanism.align().offers().log_weights)
    c.call.outputs.links =
        at::tensor(std::vector<int64_t>{1, 1, 4, 2, 0, 0, 0, 3, 1, 0, 1, 0, 0, 1, 2, 5}).view({4, 4});
  const auto a = c.run();
  const auto rows = at::tensor(std::vector<int64_t>{4, 0, 4});
  EXPECT_TRUE(same_bits(a.weights, all.narrow(1, 1, 1).index_select(2, rows)));
  EXPECT_TRUE(close(a.column_mass, all.sum(2), 1e-12));
  const bool negative = to_string().find("identity") != std::string::npos;
  if (!negative) {  // top = 9 covers all 7 keys
    EXPECT_TRUE(close(a.top_weights.sum(3), all.sum(3), 1e-12));
  }
  const auto there = a.top_keys >= 0;
  EXPECT_TRUE(close(all.gather(3, a.top_keys.clamp_min(0)).masked_fill(there.logical_not(), 0.0), a.top_weights, 0));
  EXPECT_TRUE(there.sum(3).equal((all != 0).sum(3)));                    // one for each nonzero weight
  const bool drawn = parse_mechanism(to_string()).align.name == "hard";  // its log-weights are those of softmax
  for (int64_t i = 0; i < 4 && a.link_log_weights.defined() && !drawn; ++i) {
    const auto l = c.call.outputs.links[i];
    EXPECT_TRUE(close(at::exp(a.link_log_weights[i]), all.index({l[0], l[1], l[2], l[3]}), 1e-12)) << i;
  }
  EXPECT_EQ((a.top_keys.select(2, 1) == -1).all().item<bool>(), true);  // query 1 attends nothing
}

TEST_P(EveryMechanism, AcceptsEmptyAxes) {
  for (const auto& [lq, lk] : {std::pair{0, 3}, {3, 0}, {0, 0}}) {
    SCOPED_TRACE(std::to_string(lq) + " queries, " + std::to_string(lk) + " keys");
    auto c = make("none", {2, 2, 2, lq, lk}, /*biased=*/false);
    c.call.outputs = all();
    c.call.outputs.top = all().weights ? 2 : 0;
    const auto a = c.run();
    EXPECT_EQ(a.context.sizes(), at::IntArrayRef({2, 2, lq, kValues}));
    EXPECT_EQ(largest(a.context), 0.0);
    a.context.sum().backward();
    EXPECT_EQ(largest(c.values.grad()), 0.0);
  }
}

TEST_P(EveryMechanism, CanBeCalledFromSeveralThreadsAtOnce) {
  const auto run = [&] {
    auto c = make("none");
    return std::pair(c, c.run().context.detach());
  };
  const auto [c, expected] = run();
  std::vector<Tensor> found(3);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < found.size(); ++i)
    threads.emplace_back([&, i, c = c] {
      const auto a = c.run();
      gradients(loss(a), c.tensors());
      found[i] = a.context.detach();
    });
  for (auto& thread : threads) thread.join();
  for (const auto& x : found) EXPECT_TRUE(same_bits(x, expected));
}

/// Spread of the large scores: the standard deviation of the largest quarter of each query, averaged.
double spread_of_scores(const Case& c) {
  const at::NoGradGuard no_grad;
  Case scored = c;
  scored.mechanism = Mechanism::parse(c.mechanism.parts().score.to_string() + " + identity");
  scored.parameters = {};
  for (const auto& [name, tensor] : c.parameters)
    if (name.rfind("score.", 0) == 0) scored.parameters.set(name, tensor);
  const int64_t keys = c.keys.size(2);
  scored.values = at::eye(keys, c.values.options()).expand({c.keys.size(0), c.keys.size(1), keys, keys});
  scored.call.mask = {};
  scored.call.path = Path::composed;
  return std::get<0>(scored.run().context.topk(keys / 4)).std(-1).mean().item<double>();
}

/// The largest error of the context of each query, [B, H, Lq].
Tensor row_errors(const Tensor& context, const Tensor& expected) {
  return (context.detach().to(at::kDouble) - expected.detach()).abs().amax(-1);
}

/// The error of a kernel in float is at most a constant factor above that of the composed path in float, wherever the
/// data lie. This allows rounding that is inherent in the mechanism (dot products of long vectors), but no additional
/// cancellation in the kernel.
TEST_P(EveryFusion, KeepsItsDigitsFarFromTheOrigin) {
  const auto floats = at::TensorOptions().dtype(at::kFloat);
  for (const std::string where : {"offset", "offset and padding", "clusters"}) {
    SCOPED_TRACE(where);
    auto c = make_case(to_string(), "none", {2, 2, 1, 9, 40}, /*biased=*/false, floats, PerHead::odd);
    c.call.noise.sample = false;
    {
      const at::NoGradGuard no_grad;
      for (auto& x : {c.query, c.keys}) {
        const auto second = (at::arange(x.size(2)) % 2).view({-1, 1}).to(at::kFloat);
        x.add_(where == "clusters" ? second * 2000 - 1000 : at::full_like(second, 1000));
      }
    }
    if (where == "offset and padding") {
      c.call.mask.key_count = at::full({2}, 40, at::kLong);
      c.keys = at::constant_pad_nd(c.keys.detach(), {0, 0, 0, 60});
      c.values = at::constant_pad_nd(c.values.detach(), {0, 0, 0, 60});
    }
    auto wide = in_double(c);
    const bool single = c.mechanism.dimensionality() == Dimensionality::single;
    if (single) c.call.scale = wide.call.scale = std::min(2 / std::max(spread_of_scores(wide), 1e-9), 100.0);
    const at::NoGradGuard no_grad;
    const auto expected = wide.run().context;
    const double size = largest(expected);
    const auto composed = c.run().context;
    c.call.path = Path::fused;
    const auto fused = c.run().context;
    // Excludes queries whose result is discontinuous within rounding of the input: one key more or less, another best
    // key.
    auto switches = at::zeros({2, 2, 9}, at::kBool);
    for (int i = 0; i < 4; ++i) {
      auto moved = wide;
      for (Tensor* x : {&moved.query, &moved.keys})
        *x = *x * (1 + 4 * std::numeric_limits<float>::epsilon() * at::randn_like(*x));
      switches = switches.logical_or(row_errors(moved.run().context, expected) > 0.01 * size);
    }
    EXPECT_LT(switches.to(at::kDouble).mean().item<double>(), 0.5);
    const double theirs = largest(row_errors(composed, expected).masked_fill(switches, 0.0));
    const double ours = largest(row_errors(fused, expected).masked_fill(switches, 0.0));
    EXPECT_LE(ours, 8 * theirs + 2e-6 * size) << "scale " << c.call.scale;
  }
}

/// local_p with a predicted position of 0, or of S, one past the last key.
TEST(LocalP, StaysInsideWhereItsPositionSaturates) {
  for (const std::string spec :
       {"dot + local_p(2)", "dot + local_p(2, renorm)", "dot + local_p(2, score_gauss)", "dot + local_p(0)"})
    for (const std::string mask : {"none", "all"})
      for (const double to_position : {100.0, -100.0})
        for (const Path path : {Path::composed, Path::fused}) {
          SCOPED_TRACE(spec + ", mask " + mask + ", " + std::to_string(to_position) + ", " + heed::to_string(path));
          auto c = make_case(spec, mask, {2, 2, 2, 5, 7}, /*biased=*/false);
          const at::NoGradGuard no_grad;
          c.query.abs_();
          for (const auto& [name, tensor] : c.parameters)
            Tensor(tensor).fill_(name == "align.to_position" ? to_position : 1);
          c.call.outputs.weights = true;
          c.call.path = Path::reference;
          const auto expected = c.run();
          c.call.path = path;
          const auto found = c.run();
          EXPECT_TRUE(close(found.weights, expected.weights));
          EXPECT_TRUE(close(found.context, expected.context));
          if (mask != "none") continue;
          const int64_t reach = spec.find("(0)") == std::string::npos ? 2 : 0, center = to_position > 0 ? 6 : 0;
          const auto inside = (at::arange(7) - center).abs() <= reach;
          EXPECT_TRUE((found.weights > 0).equal(inside.expand_as(found.weights)));
        }
}

TEST(TheCatalogue, HasEveryScoreAndAlignmentOfTheSurvey) {
  const std::vector<std::string> scores{
      "activated_general", "additive", "biased_general", "concat",     "cosine",        "dot",
      "euclidean",         "general",  "location",       "scaled_dot", "self_attentive"};
  const std::vector<std::string> aligns{"entmax",           "gumbel_softmax", "hard",    "identity", "local_m",
                                        "local_p",          "reinforced",     "sigmoid", "softmax",  "sparsemax",
                                        "straight_through", "threshold",      "top_k",   "uniform"};
  for (const auto& word : scores) EXPECT_NO_THROW(Catalogue<Score>::make(word)) << word;
  for (const auto& word : aligns) EXPECT_NO_THROW(Catalogue<Alignment>::make(word)) << word;
  EXPECT_GE(every_mechanism().size(), 300U);
  EXPECT_GE(every_mechanism_with_a_kernel().size(), 190U);
  std::cout << every_mechanism().size() << " mechanisms, " << every_mechanism_with_a_kernel().size()
            << " of them with a kernel, " << kMasks.size() << " masks\n";
}

}  // namespace
}  // namespace heed::testing
