// The same call on a GPU: every mechanism, with gradients and the same random numbers; and the kernels for GPUs against
// the definition in double, where this build has them.

#include <ATen/Context.h>

#include "heed/attention/attention.h"
#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

const at::TensorOptions kFloats = at::TensorOptions().dtype(at::kFloat);

Tensor moved(const Tensor& x) {
  if (!x.defined()) return x;
  const auto there = x.detach().to(at::kCUDA);
  return x.requires_grad() ? there.requires_grad_() : there;
}

Case moved(const Case& c) {
  Case there = c;
  for (const auto& [name, tensor] : c.parameters) there.parameters.set(name, moved(tensor));
  for (Tensor* x : {&there.query, &there.keys, &there.values, &there.call.mask.keep, &there.call.mask.key_count,
                    &there.call.bias.full, &there.call.bias.per_key, &there.call.bias.relative, &there.call.bias.alibi,
                    &there.call.outputs.links})
    *x = moved(*x);
  return there;
}

void expect_same_there(const std::string& spec, const std::string& mask) {
  SCOPED_TRACE(spec + ", mask " + mask);
  auto here = make_case(spec, mask);
  here.call.noise.dropout = 0.3;
  here.call.outputs = everything(here.mechanism);
  const auto there = moved(here);
  const auto a = here.run(), b = there.run();
  EXPECT_TRUE(b.context.is_cuda());
  EXPECT_TRUE(close(a.context, b.context));
  EXPECT_TRUE(close(a.weights, b.weights));
  EXPECT_TRUE(close(a.lse, b.lse));
  EXPECT_TRUE(close(a.log_probability, b.log_probability));
  const auto expected = gradients(loss_of(a), here.tensors()), found = gradients(loss_of(b), there.tensors());
  const auto names = here.leaves();
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(close(expected[i], found[i], 1e-9)) << names[i].first;
}

TEST(OnCuda, EveryMechanismGivesTheSame) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  for (const auto& spec : every_mechanism())
    for (const std::string mask : {"none", "all"}) expect_same_there(spec, mask);
}

TEST(OnCuda, NoCallTakesACpuKernel) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  const auto x = at::randn({1, 6, 8}, at::TensorOptions().device(at::kCUDA));
  const auto sparse = Mechanism::parse("dot + sparsemax");
  EXPECT_EQ(attend(x, x, x, sparse).plan.path, Path::stored);  // its pairs are few
  EXPECT_EQ(attend(x.to(at::kDouble), x.to(at::kDouble), x.to(at::kDouble)).plan.path, Path::stored);
  Call call;
  call.path = Path::fused;
  EXPECT_THROW(attend(x, x, x, sparse, {}, call), Error);
  EXPECT_EQ(why(x, x, x, sparse, {}, call).refused.find("CPU"), std::string::npos);
}

TEST(OnCuda, ManyPairsAreComposed) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  const auto x = at::randn({1, 4096, 8}, at::TensorOptions().device(at::kCUDA));
  const auto plan = why(x, x, x, Mechanism::parse("dot + sparsemax"));
  EXPECT_EQ(plan.path, Path::composed) << plan.to_string();
}

// ---- the kernels

bool there_are_kernels() {
  const auto names = Catalogue<backend::Backend>::names();
  return at::hasCUDA() && std::find(names.begin(), names.end(), "cuda") != names.end();
}

/// A case in float whose biases have no gradient, which the kernels do not compute.
Case kernel_case(const std::string& spec, const std::string& mask, const Lengths& n, PerHead which = PerHead::even) {
  Case c = make_case(spec, mask, n, /*biased=*/true, kFloats, which);
  for (Tensor* x : {&c.call.bias.full, &c.call.bias.per_key, &c.call.bias.relative, &c.call.bias.alibi})
    *x = x->detach();
  c.call.path = Path::fused;
  c.call.outputs = {.lse = c.mechanism.align().offers().lse};
  return c;
}

/// The same call in double, on the composed path of the CPU.
Case exact(const Case& c) {
  Case wide = in_double(c);
  wide.call.path = Path::composed;
  return wide;
}

/// Those that a kernel for GPUs computes, in float.
std::vector<std::string> every_mechanism_on_cuda() {
  std::vector<std::string> some;
  for (const auto& spec : every_mechanism()) {
    const Case c = moved(kernel_case(spec, "none", {}));
    if (why(c.query, c.keys, c.values, c.mechanism, c.parameters, c.call).refused.empty()) some.push_back(spec);
  }
  return some;
}

/// If one side has no gradient, the other must be 0.
void expect_same_gradients(const Case& c, const std::vector<Tensor>& found, const std::vector<Tensor>& expected,
                           double tolerance) {
  const auto leaves = c.leaves();
  size_t compared = 0;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i].second.requires_grad()) continue;
    const auto filled = [&](const Tensor& x) { return x.defined() ? x.cpu() : at::zeros_like(leaves[i].second); };
    const auto x = filled(found[i]), y = filled(expected[i]);
    EXPECT_TRUE(close(x, y, tolerance * (1 + largest(y)))) << leaves[i].first;
    ++compared;
  }
  EXPECT_GE(compared, 3U);
}

std::vector<Tensor> gradients_of_leaves(const Case& c, const Attended& a) {
  auto tensors = c.tensors();
  for (auto& x : tensors)
    if (!x.requires_grad()) x = at::zeros_like(x).requires_grad_();  // a bias: no gradient
  return gradients(loss_of(a), tensors);
}

void expect_kernel_agrees(const Case& here) {
  const Case there = moved(here), wide = exact(here);
  const auto found = there.run(), expected = wide.run();
  ASSERT_EQ(found.plan.path, Path::fused);
  EXPECT_TRUE(close(found.context, expected.context, 2e-5 * (1 + largest(expected.context))));
  EXPECT_TRUE(close(found.lse, expected.lse, 2e-4));
  EXPECT_TRUE(close(found.weights, expected.weights, 2e-5));
  EXPECT_TRUE(close(found.link_log_weights, expected.link_log_weights, 2e-4));
  expect_same_gradients(here, gradients_of_leaves(there, found), gradients_of_leaves(wide, expected), 2e-4);
}

TEST(OnCuda, AdditiveAndDotHaveKernels) {
  if (!there_are_kernels()) GTEST_SKIP() << "no GPU, or a build without HEED_CUDA";
  const auto all = every_mechanism_on_cuda();
  for (const std::string spec : {"additive + softmax", "dot + softmax", "scaled_dot + softmax", "general + softmax"})
    EXPECT_NE(std::find(all.begin(), all.end(), spec), all.end()) << spec;
}

TEST(OnCuda, KernelsAgreeWithTheDefinitionUnderEveryMask) {
  if (!there_are_kernels()) GTEST_SKIP() << "no GPU, or a build without HEED_CUDA";
  for (const auto& spec : every_mechanism_on_cuda()) {
    PerHead which = PerHead::even;
    for (const auto& mask : kMasks)
      for (const Lengths& n : {Lengths{}, Lengths{2, 2, 1, 5, 7}, Lengths{2, 2, 1, 53, 150}, Lengths{2, 2, 2, 1, 20}}) {
        SCOPED_TRACE(spec + ", mask " + mask + ", " + std::to_string(n.queries) + " queries, " +
                     std::to_string(n.key_heads) + " key heads");
        expect_kernel_agrees(kernel_case(spec, mask, n, which = next(which)));
      }
  }
}

TEST(OnCuda, KernelsDropTheSameWeights) {
  if (!there_are_kernels()) GTEST_SKIP() << "no GPU, or a build without HEED_CUDA";
  for (const auto& spec : every_mechanism_on_cuda()) {
    SCOPED_TRACE(spec);
    for (const Lengths& n : {Lengths{}, Lengths{2, 2, 1, 53, 150}}) {
      Case c = kernel_case(spec, "all", n);
      c.call.noise.dropout = 0.3;
      c.call.noise.first_row = 3;
      expect_kernel_agrees(c);
    }
  }
}

TEST(OnCuda, KernelsReturnWeightsAndLinks) {
  if (!there_are_kernels()) GTEST_SKIP() << "no GPU, or a build without HEED_CUDA";
  for (const auto& spec : every_mechanism_on_cuda()) {
    SCOPED_TRACE(spec);
    Case c = kernel_case(spec, "all", {});
    c.call.outputs.weights = true;
    c.call.outputs.links = at::tensor(std::vector<int64_t>{0, 0, 4, 3, 1, 1, 0, 0, 0, 0, 4, 3}).view({3, 4});
    const Case there = moved(c), wide = exact(c);
    const at::NoGradGuard no_grad;
    const auto found = there.run(), expected = wide.run();
    ASSERT_EQ(found.plan.path, Path::fused);
    EXPECT_TRUE(close(found.weights, expected.weights, 2e-5));
    EXPECT_TRUE(close(found.link_log_weights, expected.link_log_weights, 2e-4));
    c.call.outputs.rows = {4, 0};
    c.call.outputs.heads = {1};
    EXPECT_TRUE(close(moved(c).run().weights, exact(c).run().weights, 2e-5));
  }
}

// The kernels have no gradient of the weights: the composed backend computes it.
TEST(OnCuda, GradientsOfWeightsAreThoseOfTheDefinition) {
  if (!there_are_kernels()) GTEST_SKIP() << "no GPU, or a build without HEED_CUDA";
  Case c = kernel_case("additive + softmax", "all", {});
  c.call.outputs.weights = true;
  expect_kernel_agrees(c);
}

TEST(OnCuda, NaNInPaddingReachesNothing) {
  if (!there_are_kernels()) GTEST_SKIP() << "no GPU, or a build without HEED_CUDA";
  for (const auto& spec : every_mechanism_on_cuda())
    for (const std::string mask : {"key_count", "keep", "window"}) {
      SCOPED_TRACE(spec + ", mask " + mask);
      const Lengths n{2, 2, 1, 5, 70};
      Case clean = kernel_case(spec, mask, n);
      if (mask == "key_count") clean.call.mask.key_count = at::tensor(std::vector<int64_t>{33, 0});
      const Reach found = reach(clean.call.mask, {0, 0, n.queries, n.keys}, at::kCPU);
      Case dirty = clean;
      const auto spoiled = [](const Tensor& x, const Tensor& reached) {
        const auto all = reached.any(1, /*keepdim=*/true).logical_not();
        return x.detach().masked_fill(all, NAN).requires_grad_();
      };
      dirty.keys = spoiled(clean.keys, found.keys);
      dirty.values = spoiled(clean.values, found.keys);
      dirty.query = spoiled(clean.query, found.rows);
      EXPECT_TRUE(dirty.keys.isnan().any().item<bool>());
      const Case a = moved(clean), b = moved(dirty);
      const auto x = a.run(), y = b.run();
      ASSERT_EQ(y.plan.path, Path::fused);
      EXPECT_TRUE(same_bits(x.context, y.context));
      const auto expected = gradients_of_leaves(a, x), found_grads = gradients_of_leaves(b, y);
      const auto leaves = a.leaves();
      for (size_t i = 0; i < leaves.size(); ++i) {
        if (!leaves[i].second.requires_grad()) continue;
        EXPECT_TRUE(close(expected[i], found_grads[i], 1e-6)) << leaves[i].first;
      }
      Case weighted = b;  // gradients of weights are composed
      weighted.call.outputs.weights = true;
      const auto of_weights = weighted.run();
      for (const auto& grad : gradients(of_weights.weights.square().sum() + of_weights.context.sum(),
                                        {weighted.query, weighted.keys, weighted.values}))
        EXPECT_FALSE(grad.defined() && grad.isnan().any().item<bool>());
    }
}

TEST(OnCuda, KernelsGiveTheSameBitsEveryTime) {
  if (!there_are_kernels()) GTEST_SKIP() << "no GPU, or a build without HEED_CUDA";
  for (const auto& spec : every_mechanism_on_cuda()) {
    SCOPED_TRACE(spec);
    const Case c = moved(kernel_case(spec, "all", {2, 2, 1, 130, 150}));
    const auto first = c.run(), again = c.run();
    EXPECT_TRUE(same_bits(first.context, again.context));
    const auto x = gradients_of_leaves(c, first), y = gradients_of_leaves(c, again);
    for (size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(same_bits(x[i], y[i])) << i;
  }
}

TEST(OnCuda, AModuleAttendsAMemoryByKernels) {
  if (!there_are_kernels()) GTEST_SKIP() << "no GPU, or a build without HEED_CUDA";
  for (const int64_t heads : {1, 4})
    for (const std::string spec : {"additive + softmax", "scaled_dot + softmax"}) {
      SCOPED_TRACE(spec + ", heads " + std::to_string(heads));
      at::manual_seed(3);
      Attention wide(AttentionOptions{.query_dim = 8,
                                      .key_dim = 8,
                                      .value_dim = 8,
                                      .hidden_dim = 8,
                                      .num_heads = heads,
                                      .mechanism = Mechanism::parse(spec)});
      Attention there(std::dynamic_pointer_cast<AttentionImpl>(wide->clone(torch::Device(at::kCUDA))));
      wide->to(at::kDouble);
      const auto keys = at::randn({3, 7, 8}), query = at::randn({3, 1, 8});
      const Mask mask{.key_count = at::tensor(std::vector<int64_t>{7, 3, 0})};
      const Mask mask_there{.key_count = mask.key_count.to(at::kCUDA)};
      const auto expected =
          wide->forward(query.to(at::kDouble), wide->prepare(keys.to(at::kDouble), keys.to(at::kDouble), mask));
      const auto memory = there->prepare(moved(keys), moved(keys), mask_there);
      const auto found = there->forward(moved(query), memory);
      EXPECT_EQ(found.plan.path, Path::fused) << found.plan.to_string();
      EXPECT_TRUE(close(found.context, expected.context, 1e-5));
      const auto a = gradients(expected.context.sum(), wide->parameters()),
                 b = gradients(found.context.sum(), there->parameters());
      for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(close(b[i], a[i], 1e-4)) << i;
    }
}

// ---- SDPA

struct Long {
  Tensor query, keys, values;
  Call call;
};
Long long_call(int64_t length, Causal causal, const at::TensorOptions& options) {
  at::manual_seed(2);
  const auto leaf = [&](int64_t width) {
    return at::randn({2, 3, length, width}, kDouble).to(options).requires_grad_();
  };
  Long in{leaf(16), leaf(16), leaf(8), {}};
  in.call.mask.causal = causal;
  return in;
}
std::pair<Attended, std::vector<Tensor>> run(const Long& in) {
  const auto a = attend(in.query, in.keys, in.values, {}, {}, in.call);
  return {a, gradients(loss_of(a), {in.query, in.keys, in.values})};
}

bool there_is_sdpa() {
  const auto names = Catalogue<backend::Backend>::names();
  return at::hasCUDA() && std::find(names.begin(), names.end(), "sdpa") != names.end();
}

// One batch element of the memory has no key, so its query may hold anything.
TEST(OnCuda, NaNInAQueryWithoutKeysOfAMemoryReachesNothing) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  const at::NoGradGuard no_grad;
  for (const std::string spec : {"additive + softmax", "scaled_dot + softmax", "additive + sparsemax"})
    for (const int64_t queries : {1, 5, 70})
      for (const bool counted : {false, true}) {
        SCOPED_TRACE(spec + ", " + std::to_string(queries) + " queries");
        Attention here(AttentionOptions{
            .query_dim = 8, .key_dim = 8, .value_dim = 8, .hidden_dim = 8, .mechanism = Mechanism::parse(spec)});
        here->eval();
        Mask mask;
        if (counted)
          mask.key_count = at::tensor({6, 0, 4}, at::kLong);
        else
          mask.keep = at::tensor({1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1}, at::kInt)
                          .view({3, 1, 6})
                          .to(at::kBool);
        const auto rows = at::randn({3, 6, 8});
        auto query = at::randn({3, queries, 8});
        query[1].fill_(std::nan(""));
        const auto expected = here->forward(query, here->prepare(rows, rows, mask)).context;
        EXPECT_EQ(expected[1].abs().max().item<float>(), 0);
        Attention there(std::dynamic_pointer_cast<AttentionImpl>(here->clone()));
        there->to(at::kCUDA);
        there->eval();
        Mask moved_mask;
        moved_mask.keep = moved(mask.keep);
        moved_mask.key_count = moved(mask.key_count);
        const auto found =
            there->forward(moved(query), there->prepare(moved(rows), moved(rows), moved_mask)).context.cpu();
        EXPECT_TRUE(found.allclose(expected, 1e-4, 1e-5));
      }
}

TEST(OnCuda, LongPlainCallsGoToSdpa) {
  if (!there_is_sdpa()) GTEST_SKIP() << "no GPU, or PyTorch 1.13";
  for (const Causal causal : {Causal::none, Causal::top_left, Causal::bottom_right})
    for (const bool deterministic : {true, false}) {
      const auto expected = run(long_call(530, causal, kDouble));
      auto in = long_call(530, causal, kFloats.device(at::kCUDA));
      in.call.deterministic = deterministic;
      const auto found = run(in);
      EXPECT_EQ(found.first.plan.kernel.rfind("SDPA", 0), 0U) << found.first.plan.to_string();
      EXPECT_TRUE(close(found.first.context, expected.first.context, 2e-5));
      for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(close(found.second[i], expected.second[i], 2e-4)) << i;
      if (!deterministic) continue;
      const auto again = run(in);
      for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(found.second[i], again.second[i])) << i;
    }
}

TEST(OnCuda, HalfTypesAreThoseOfTheCpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16})
    for (const char* mechanism : {"scaled_dot + softmax", "additive + softmax", "dot + entmax(1.5)"})
      for (const char* mask : {"none", "keep"}) {
        SCOPED_TRACE(std::string(toString(type)) + ", " + mechanism + ", mask " + mask);
        const Case plain = make_case(mechanism, mask, {}, /*biased=*/false, at::kFloat);
        const auto on = [&](at::Device device) {
          Case c = plain;
          const auto moved = [&](const Tensor& x) {
            if (!x.defined()) return x;
            const bool real = x.is_floating_point();
            return (real ? x.detach().to(type) : x).to(device).requires_grad_(real);
          };
          for (const auto& [name, tensor] : plain.parameters) c.parameters.set(name, moved(tensor));
          for (Tensor* x : {&c.query, &c.keys, &c.values, &c.call.mask.keep}) *x = moved(*x);
          const Tensor context = c.run().context;
          context.to(at::kFloat).pow(2).sum().backward();
          return std::vector<Tensor>{context, c.query.grad(), c.keys.grad(), c.values.grad()};
        };
        const auto expected = on(at::kCPU), found = on(at::kCUDA);
        for (size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(found[i].scalar_type(), type) << i;
          const Tensor there = found[i].cpu().to(at::kFloat), here = expected[i].to(at::kFloat);
          EXPECT_TRUE(close(there, here, 0.02 * largest(here))) << i;
        }
      }
}

/// As run(), with a loss in double: the waves of a half type are others.
std::pair<Attended, std::vector<Tensor>> run_rounded(const Long& in) {
  const auto a = attend(in.query, in.keys, in.values, {}, {}, in.call);
  const Tensor context = a.context.to(at::kDouble);
  return {a, gradients((context * waves(context)).sum(), {in.query, in.keys, in.values})};
}

TEST(OnCuda, LongPlainCallsOfHalfTypesGoToEnginesForThem) {
  if (!there_is_sdpa()) GTEST_SKIP() << "no GPU, or PyTorch 1.13";
  const auto off = [](const Tensor& x, const Tensor& y) { return largest(x.to(at::kDouble) - y) / largest(y); };
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16})
    for (const Causal causal : {Causal::none, Causal::top_left}) {
      auto in = long_call(530, causal, at::TensorOptions(type).device(at::kCUDA));
      in.call.deterministic = false;
      const auto found = run_rounded(in);
      EXPECT_NE(found.first.plan.kernel.find(std::string("in ") + toString(type)), std::string::npos)
          << found.first.plan.to_string();
      EXPECT_EQ(why(in.query, in.keys, in.values, {}, {}, in.call).kernel, found.first.plan.kernel);
      ASSERT_EQ(found.first.context.scalar_type(), type);
      const auto wide = [](const Tensor& x) { return x.detach().to(at::kDouble).requires_grad_(); };
      const auto expected = run_rounded({wide(in.query), wide(in.keys), wide(in.values), in.call});
      // The engines round weights and their gradients to the type before they add them up.
      const double tolerance = type == at::kHalf ? 0.003 : 0.02;
      EXPECT_LT(off(found.first.context, expected.first.context), tolerance);
      for (size_t i = 0; i < 3; ++i) EXPECT_LT(off(found.second[i], expected.second[i]), tolerance) << i;
      in.call.deterministic = true;  // with a gradient: float, in one order
      const auto first = run_rounded(in), again = run_rounded(in);
      EXPECT_EQ(first.first.plan.kernel.find("in "), std::string::npos) << first.first.plan.to_string();
      for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(first.second[i], again.second[i])) << i;
    }
}

TEST(OnCuda, SdpaLeavesOtherCallsToTheRest) {
  if (!there_is_sdpa()) GTEST_SKIP() << "no GPU, or PyTorch 1.13";
  const auto named = [](const std::function<void(Long&)>& change) {
    auto in = long_call(530, Causal::none, kFloats.device(at::kCUDA));
    change(in);
    return attend(in.query, in.keys, in.values, {}, {}, in.call).plan.kernel;
  };
  EXPECT_EQ(named([](Long&) {}).rfind("SDPA", 0), 0U);
  const std::vector<std::pair<const char*, std::function<void(Long&)>>> changes{
      {"key_count", [](Long& x) { x.call.mask.key_count = at::full({2}, 500, at::kLong).to(at::kCUDA); }},
      {"window", [](Long& x) { x.call.mask.left = 20; }},
      {"dropout", [](Long& x) { x.call.noise.dropout = 0.1; }},
      {"soft cap", [](Long& x) { x.call.soft_cap = 3; }},
      {"weights", [](Long& x) { x.call.outputs.weights = true; }},
      {"width", [](Long& x) { x.values = x.values.narrow(3, 0, 7); }},
      {"later queries", [](Long& x) {
         x.call.mask.causal = Causal::top_left;
         x.call.mask.first_query = 1;
       }}};
  for (const auto& [what, change] : changes) EXPECT_NE(named(change).rfind("SDPA", 0), 0U) << what;
}

}  // namespace
}  // namespace heed::testing
