// The fused path against the composed one: gradients, instruction sets, sizes beyond one tile, and uses of autograd.

#include "heed/attention/attention.h"
#include "heed/attention/testing.h"
#include "heed/kernels/cpu/attend.h"
#include "heed/torch_support/autocast.h"

namespace heed::testing {
namespace {

namespace cpu = kernels::cpu;

class EveryKernel : public ::testing::TestWithParam<std::string> {
 protected:
  ~EveryKernel() override { cpu::use_instruction_set(before_); }
  std::string to_string() const { return GetParam(); }
  const std::string before_ = cpu::instruction_set();
};

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryKernel, ::testing::ValuesIn(every_mechanism_with_a_kernel()), test_name);

struct Found {
  Attended attended;
  std::vector<Tensor> grads;
};

/// A result, and the gradients of all its outputs.
Found run(const Case& c, Path path) {
  Case mine = c;
  mine.call.path = path;
  const auto a = mine.run();
  return {a, gradients(loss_of(a), mine.tensors())};
}

/// If one side has no gradient, the other must be 0.
void expect_same_gradients(const Case& c, const Found& ours, const Found& expected, double tolerance) {
  const auto leaves = c.leaves();
  for (size_t i = 0; i < leaves.size(); ++i) {
    const auto filled = [&](const Tensor& x) { return x.defined() ? x : at::zeros_like(leaves[i].second); };
    const auto x = filled(ours.grads[i]), y = filled(expected.grads[i]);
    EXPECT_TRUE(close(x, y, tolerance * (1 + largest(y)))) << leaves[i].first;
  }
}

void expect_same(const Case& c, const Found& ours, const Found& expected, double tolerance) {
  const double size = 1 + largest(expected.attended.context);
  EXPECT_TRUE(close(ours.attended.context, expected.attended.context, tolerance * size));
  EXPECT_TRUE(close(ours.attended.lse, expected.attended.lse, tolerance * 10));
  EXPECT_TRUE(close(ours.attended.log_probability, expected.attended.log_probability, tolerance * 10));
  expect_same_gradients(c, ours, expected, tolerance * 10);
}

TEST_P(EveryKernel, HasTheGradientsOfTheComposedPath) {
  bool sample = false;
  PerHead which = PerHead::even;
  for (const auto& mask : kMasks) {
    SCOPED_TRACE(mask + (sample ? ", sampled" : ", decided"));
    auto c = make_case(to_string(), mask, {}, /*biased=*/true, kDouble, which = next(which));
    c.call.outputs = everything(c.mechanism, Path::fused);
    c.call.noise.sample = sample;
    c.call.noise.dropout = sample ? 0.2 : 0;
    sample = !sample;
    expect_same(c, run(c, Path::fused), run(c, Path::composed), 1e-11);
  }
}

/// More queries than a block and more keys than a tile, with all kinds of masks.
Case long_case(const std::string& spec, const at::TensorOptions& options) {
  auto c = make_case(spec, "none", {2, 2, 1, 53, 150}, /*biased=*/true, options);
  at::manual_seed(5);
  c.call.mask.keep = at::rand({2, 1, 53, 150}) > 0.3;
  c.call.mask.key_count = at::tensor(std::vector<int64_t>{150, 97});
  c.call.mask.causal = Causal::bottom_right;
  c.call.mask.left = 120;
  c.call.block_bytes = 16 << 20;
  c.call.outputs = everything(c.mechanism, Path::fused);
  return c;
}

TEST_P(EveryKernel, AgreesBeyondOneTile) {
  const auto c = long_case(to_string(), kDouble);
  expect_same(c, run(c, Path::fused), run(c, Path::composed), 1e-11);
}

TEST_P(EveryKernel, AgreesInFloatOnEveryInstructionSet) {
  const auto floats = at::TensorOptions().dtype(at::kFloat);
  for (const bool many : {false, true}) {
    auto c = many ? long_case(to_string(), floats) : make_case(to_string(), "keep", {}, /*biased=*/true, floats);
    // No weights: their gradients jump where rounding moves a key into or out of the support of a sparse alignment.
    c.call.outputs = {.lse = c.mechanism.align().offers().lse};
    const auto expected = run(in_double(c), Path::composed);
    for (const auto& set : cpu::instruction_sets()) {
      SCOPED_TRACE(set + (many ? ", many" : ", few"));
      cpu::use_instruction_set(set);
      const auto ours = run(c, Path::fused);
      EXPECT_EQ(ours.attended.plan.kernel.rfind(set + ":", 0), 0U) << ours.attended.plan.kernel;
      expect_same(c, ours, expected, 2e-5);
    }
  }
}

TEST(Fused, GivesTheSameBitsOnAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  for (const std::string spec : {"additive + softmax", "scaled_dot + entmax(1.5)", "cosine(5) + local_p(30)",
                                 "additive(relu) + top_k(20)", "dot + hard", "additive + softmax, multi"}) {
    SCOPED_TRACE(spec);
    const auto c = long_case(spec, at::TensorOptions().dtype(at::kFloat));
    at::set_num_threads(1);
    const auto one = run(c, Path::fused);
    at::set_num_threads(3);
    const auto three = run(c, Path::fused);
    EXPECT_TRUE(same_bits(one.attended.context, three.attended.context));
    EXPECT_TRUE(same_bits(one.attended.lse, three.attended.lse));
    for (size_t i = 0; i < one.grads.size(); ++i) EXPECT_TRUE(same_bits(one.grads[i], three.grads[i])) << i;
  }
  at::set_num_threads(before);
}

/// Everything that can be requested of a kernel for pairs; the same query, head and link twice.
Outputs all_requested(const Mechanism& mechanism) {
  Outputs outputs = everything(mechanism, Path::fused);
  if (mechanism.dimensionality() != Dimensionality::single) return outputs;
  outputs.rows = {3, 0, 3};
  outputs.heads = {1, 1};
  outputs.column_mass = true;
  outputs.top = 2;
  if (mechanism.align().offers().log_weights)
    outputs.links = at::tensor(std::vector<int64_t>{1, 1, 4, 2, 0, 0, 0, 3, 1, 1, 4, 2, 0, 1, 1, 5}).view({4, 4});
  return outputs;
}

TEST_P(EveryKernel, HasTheGradientsOfRequestedOutputs) {
  for (const char* mask : {"none", "keep", "all"})
    for (const bool sample : {false, true}) {
      SCOPED_TRACE(mask + std::string(sample ? ", sampled" : ", decided"));
      auto c = make_case(to_string(), mask);
      c.call.outputs = all_requested(c.mechanism);
      c.call.noise.sample = sample;
      c.call.noise.dropout = sample ? 0.2 : 0;
      const auto ours = run(c, Path::fused);
      EXPECT_FALSE(ours.attended.top_keys.defined() && ours.attended.top_keys.requires_grad());
      expect_same(c, ours, run(c, Path::composed), 1e-11);
    }
}

// A block without links depends on nothing of the loss.
TEST(Composed, TakesALossOfLinksInOneBlockAlone) {
  auto c = make_case("additive + softmax");
  c.call.outputs.links = at::tensor(std::vector<int64_t>{0, 1, 0, 2}).view({1, 4});
  const auto grads = [&](Path path) {
    c.call.path = path;
    return gradients(c.run().link_log_weights.sum(), c.tensors());
  };
  const auto ours = grads(Path::composed), stored = grads(Path::stored), fused = grads(Path::fused);
  for (size_t i = 0; i < ours.size(); ++i) {
    const auto filled = [&](const Tensor& x) { return x.defined() ? x : at::zeros_like(c.tensors()[i]); };
    EXPECT_TRUE(close(filled(ours[i]), filled(stored[i]))) << c.leaves()[i].first;
    EXPECT_TRUE(close(filled(fused[i]), filled(stored[i]))) << c.leaves()[i].first;
  }
}

// With one query in a block the gradients of both biases are one tensor.
TEST(Composed, AddsGradientsThatShareMemory) {
  auto c = make_case("dot + softmax", "none", {1, 1, 1, 3, 7});
  c.call.bias.full = at::randn({1, 1, 1, 7}, kDouble).requires_grad_();
  c.call.bias.per_key = at::randn({1, 1, 7}, kDouble).requires_grad_();
  c.call.block_bytes = 1;
  const auto grads = [&](Path path) {
    c.call.path = path;
    return gradients(loss_of(c.run()), {c.call.bias.full, c.call.bias.per_key});
  };
  const auto ours = grads(Path::composed), stored = grads(Path::stored);
  EXPECT_TRUE(close(ours[0], stored[0]));
  EXPECT_TRUE(close(ours[1], stored[1]));
}

TEST(Fused, ReadsLinksAsTheyWereInForward) {
  auto c = make_case("dot + softmax");
  c.call.path = Path::fused;
  c.call.outputs.links = at::tensor(std::vector<int64_t>{0, 1, 0, 2}).view({1, 4});
  const auto expected = gradients(c.run().link_log_weights.sum(), {c.query})[0];
  const auto loss = c.run().link_log_weights.sum();
  c.call.outputs.links.fill_(1);
  EXPECT_TRUE(same_bits(gradients(loss, {c.query})[0], expected));
}

TEST(Fused, ComputesTheGradientOfASingleInput) {
  auto c = make_case("additive + local_p(2)");
  const auto all = run(c, Path::fused);
  const auto leaves = c.leaves();
  for (size_t only = 0; only < leaves.size(); ++only) {
    for (const auto& [name, tensor] : leaves) Tensor(tensor).requires_grad_(false);
    Tensor(leaves[only].second).requires_grad_();
    c.call.path = Path::fused;
    const auto found = gradients(loss_of(c.run()), {leaves[only].second})[0];
    EXPECT_TRUE(close(found, all.grads[only])) << leaves[only].first;
  }
}

// Self-attention: query, keys and values are one tensor, and its gradient is the sum of three.
TEST(Fused, DifferentiatesOneTensorInThreeRoles) {
  const auto x = at::randn({2, 3, 6, 4}, kDouble).requires_grad_();
  const auto grad = [&](Path path) {
    Call call;
    call.path = path;
    const auto context = attend(x, x, x, Mechanism::parse("euclidean + softmax"), {}, call).context;
    return gradients((context * waves(context)).sum(), {x})[0];
  };
  EXPECT_TRUE(close(grad(Path::fused), grad(Path::stored)));
}

// Transposed heads, features that are not contiguous, expanded tensors.
TEST(Fused, AcceptsAnyStrides) {
  at::manual_seed(6);
  const auto q = at::randn({2, 5, 3, 4}).transpose(1, 2), k = at::randn({2, 4, 7, 3}).permute({0, 3, 2, 1}),
             v = at::randn({1, 1, 7, 5}).expand({2, 3, 7, 5});
  Call call;
  call.mask.keep = (at::rand({7, 5, 1, 1}) > 0.3).permute({2, 3, 1, 0});
  call.bias.full = at::randn({7, 5}).t().expand({2, 1, 5, 7});
  const auto context = [&](Path path) {
    call.path = path;
    return attend(q, k, v, {}, {}, call).context;
  };
  EXPECT_TRUE(close(context(Path::fused), context(Path::composed), 1e-5));
}

TEST(Fused, AllowsInPlaceChangesOfItsContext) {
  const auto grads = [&](Path path, bool in_place) {
    auto c = make_case("scaled_dot + softmax");
    c.call.path = path;
    auto context = c.run().context;
    context = in_place ? context.mul_(2) : context * 2;
    return gradients((context * waves(context)).sum(), c.tensors());
  };
  const auto ours = grads(Path::fused, true), expected = grads(Path::composed, false);
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_TRUE(close(ours[i], expected[i])) << i;
}

TEST(Fused, NoticesAnInputThatWasChangedInPlace) {
  const auto x = at::randn({1, 3, 4}).requires_grad_();
  const auto y = x * 1;
  const auto context = attend(y, y, y).context;
  y.add_(1);
  EXPECT_THROW(context.sum().backward(), std::exception);
}

TEST(Fused, CanBeDifferentiatedMoreThanOnce) {
  const auto x = at::randn({1, 3, 4}).requires_grad_();
  const auto loss = attend(x, x, x).context.square().sum();
  const auto first = torch::autograd::grad({loss}, {x}, {}, /*retain_graph=*/true)[0];
  EXPECT_TRUE(same_bits(torch::autograd::grad({loss}, {x})[0], first));
}

/// euclidean + softmax on points of standard deviation 1, with `padding` masked keys.
struct Points {
  Tensor query, keys, values;
  int64_t padding = 0;

  Attended attended(Path path, at::ScalarType type, const std::string& spec = "euclidean + softmax") const {
    Call call;
    call.path = path;
    if (padding > 0) call.mask.key_count = at::full({query.size(0)}, keys.size(1) - padding, at::kLong);
    return attend(query.to(type), keys.to(type), values.to(type), Mechanism::parse(spec), {}, call);
  }
  /// The largest error of a path in float, relative to the largest value of the context.
  double error(Path path = Path::fused) const {
    const auto expected = attended(Path::composed, at::kDouble).context;
    return largest(attended(path, at::kFloat).context.to(at::kDouble) - expected) / largest(expected);
  }
};

/// `shift` is added to every second point, `others` to the rest.
Points make_points(double shift, double others, int64_t padding, int64_t queries = 40, int64_t width = 8) {
  at::manual_seed(8);
  const auto points = [&](int64_t count) {
    const auto second = (at::arange(count) % 2).view({1, -1, 1}).to(at::kFloat);
    return at::randn({2, count, width}) + second * shift + (1 - second) * others;
  };
  Points p{points(queries), points(300), at::randn({2, 300, 4}), padding};
  p.keys = at::constant_pad_nd(p.keys, {0, 0, 0, padding});
  p.values = at::constant_pad_nd(p.values, {0, 0, 0, padding});
  return p;
}

// A common offset, clusters far apart and padding do not reduce the accuracy of distances.
TEST(Fused, MeasuresDistancesFarFromTheOrigin) {
  for (const int64_t queries : {2, 40})
    for (const int64_t width : {3, 8, 64}) {
      SCOPED_TRACE(std::to_string(queries) + " queries, width " + std::to_string(width));
      EXPECT_LE(make_points(1000, -1000, 0, queries, width).error(), 1e-5) << "clusters";
      for (const int64_t padding : {0, 8, 1000})
        for (const double offset : {0.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6})
          EXPECT_LE(make_points(offset, offset, padding, queries, width).error(), 1e-5)
              << "offset " << offset << ", padding " << padding;
    }
}

TEST(Fused, MeasuresDistancesOfOutliers) {
  for (const double deviations : {3.0, 30.0, 300.0}) {
    Points p = make_points(0, 0, 0);
    p.keys.select(1, 5).fill_(deviations);
    p.query.select(1, 7).fill_(-deviations);
    // The scores of such an outlier are huge, and float rounds them on every path.
    EXPECT_LE(p.error(), std::max(1e-5, 8 * p.error(Path::composed))) << deviations;
    const Plan plan = p.attended(Path::fastest, at::kFloat).plan;
    EXPECT_EQ(plan.path, Path::fused) << plan.to_string();
    EXPECT_NE(plan.kernel.find("squared_distance x softmax"), std::string::npos) << plan.kernel;
  }
}

TEST(Fused, GivesTheSameDistancesHoweverLongThePadding) {
  for (const std::string spec : {"euclidean + softmax", "euclidean(root) + softmax"})
    for (const int64_t queries : {2, 40}) {
      const auto context = [&](int64_t padding) {
        return make_points(1000, 1000, padding, queries).attended(Path::fused, at::kFloat, spec).context;
      };
      for (const int64_t padding : {8, 1000}) EXPECT_TRUE(same_bits(context(padding), context(0))) << spec << padding;
    }
}

// The nearest neighbors of a point are in its own cluster.
TEST(Fused, HasTheGradientOfDistancesBetweenFarClusters) {
  const Points p = make_points(1000, -1000, 8);
  for (const std::string spec : {"euclidean + softmax", "euclidean(root) + softmax"}) {
    const auto found = [&](Path path, at::ScalarType type) {
      Points own = p;
      std::vector<Tensor> leaves;
      for (Tensor* x : {&own.query, &own.keys, &own.values})
        leaves.push_back(*x = x->detach().to(type).clone().requires_grad_());
      const auto context = own.attended(path, type, spec).context;
      return gradients((context * waves(context)).sum(), leaves);
    };
    const auto ours = found(Path::fused, at::kFloat), expected = found(Path::composed, at::kDouble);
    for (size_t i = 0; i < ours.size(); ++i)
      EXPECT_TRUE(close(ours[i], expected[i], 2e-5 * largest(expected[i]))) << spec << ", " << i;
  }
}

// loss.backward() inside an autocast scope: recomputation in backward stays in float.
TEST(Autocast, DoesNotReachTheBackwardOfAttention) {
  for (const std::string spec : {"dot + softmax", "scaled_dot + entmax(1.5)", "euclidean + sigmoid"})
    for (const Path path : {Path::composed, Path::fused})
      for (const bool weights : {false, true}) {  // fused: gradients of weights take the composed path
        SCOPED_TRACE(spec + ", " + heed::to_string(path) + (weights ? ", of weights too" : ""));
        auto c = make_case(spec, "keep", {}, /*biased=*/false, at::TensorOptions().dtype(at::kFloat));
        c.call.path = path;
        c.call.outputs.weights = weights;
        const auto found = [&](bool autocast) {
          const Autocast scope(at::kCPU, autocast);
          return gradients(loss_of(c.run()), c.tensors());
        };
        const auto inside = found(true), outside = found(false);
        for (size_t i = 0; i < inside.size(); ++i) EXPECT_TRUE(same_bits(inside[i], outside[i])) << i;
      }
}

class EveryMemory : public ::testing::TestWithParam<std::tuple<std::string, int64_t>> {
 protected:
  Attention make() const {
    at::manual_seed(3);
    Attention attention(AttentionOptions{.query_dim = 6,
                                         .key_dim = 6,
                                         .value_dim = 4,
                                         .hidden_dim = 16 * std::get<1>(GetParam()),
                                         .num_heads = std::get<1>(GetParam()),
                                         .num_kv_heads = std::get<1>(GetParam()) > 1 ? 2 : 0,
                                         .mechanism = Mechanism::parse(std::get<0>(GetParam()))});
    attention->eval();
    return attention;
  }
  const Tensor query_ = (at::manual_seed(1), at::randn({2, 3, 6})), keys_ = at::randn({2, 5, 6}),
               values_ = at::randn({2, 5, 4});
};
INSTANTIATE_TEST_SUITE_P(
    Heads, EveryMemory,
    ::testing::Combine(::testing::Values("additive + softmax", "concat + sparsemax", "additive(relu) + hard",
                                         "scaled_dot + softmax", "additive + softmax, multi"),
                       ::testing::Values(1, 4)),
    [](const auto& test) { return name_of(std::get<0>(test.param)) + "_" + std::to_string(std::get<1>(test.param)); });

TEST_P(EveryMemory, RunsOnTheKernelsOfItsMechanism) {
  for (const bool grad : {true, false}) {
    const at::AutoGradMode mode(grad);
    auto attention = make();
    const auto query = query_.clone().requires_grad_();
    auto leaves = attention->parameters();
    leaves.push_back(query);
    Mask mask;
    mask.key_count = at::tensor(std::vector<int64_t>{3, 1});
    Memory memory = attention->prepare(keys_.narrow(1, 0, 3), values_.narrow(1, 0, 3), mask);
    for (int64_t j = 3; j < 5; ++j) memory = attention->append(memory, keys_.narrow(1, j, 1), values_.narrow(1, j, 1));
    const auto answer = [&](Path path, bool masked) {
      Call call;
      call.path = path;
      if (masked) call.mask.causal = Causal::bottom_right;
      return attention->forward(query, memory, call);
    };
    for (const bool masked : {false, true}) {
      const auto ours = answer(Path::fastest, masked);
      EXPECT_EQ(ours.plan.path, Path::fused);
      EXPECT_TRUE(close(ours.context, answer(Path::composed, masked).context, 1e-5));
    }
    if (!grad) continue;
    const auto grads = [&](Path path) {
      const auto context = answer(path, false).context;
      return torch::autograd::grad({(context * waves(context)).sum()}, leaves, {}, /*retain_graph=*/true,
                                   /*create_graph=*/false, /*allow_unused=*/true);
    };
    const auto ours = grads(Path::fused), expected = grads(Path::composed);
    for (size_t i = 0; i < ours.size(); ++i) {
      const auto filled = [&](const Tensor& x) { return x.defined() ? x : at::zeros_like(leaves[i]); };
      EXPECT_TRUE(close(filled(ours[i]), filled(expected[i]), 1e-4)) << i;
    }
  }
}

TEST_P(EveryMemory, TakesNoKeys) {
  auto attention = make();
  const auto none = [](const Tensor& x) { return x.narrow(1, 0, 0); };
  const auto memory = attention->prepare(keys_, values_);
  EXPECT_EQ(attention->append(memory, none(keys_), none(values_)).length(), memory.length());
  const auto grown = attention->append(attention->prepare(none(keys_), none(values_)), keys_, values_);
  EXPECT_EQ(grown.packed_keys.defined(), memory.packed_keys.defined());
}

TEST_P(EveryMemory, KeepsTheExponentialsOfAdditiveKeys) {
  auto attention = make();
  const auto memory = attention->append(attention->prepare(keys_, values_), keys_, values_);
  const auto& m = attention->options().mechanism;
  const bool single = m.dimensionality() == Dimensionality::single;
  const bool additive = single && m.score().kernel(m.dimensionality()).kind == ScoreKind::additive;
  ASSERT_EQ(memory.packed_keys.defined(), additive);
  if (!additive) return;
  EXPECT_TRUE(close(memory.packed_keys.rows(), at::exp(2 * memory.keys.rows()), 0.0));
  EXPECT_FALSE(memory.packed_keys.rows().requires_grad());
  attention->to(at::kDouble);
  EXPECT_FALSE(attention->prepare(keys_.to(at::kDouble), values_.to(at::kDouble)).packed_keys.defined());
}

}  // namespace
}  // namespace heed::testing
