// The golden table on the fused, composed and stored paths, in double and float: values and gradients.

#include "heed/attention/testing.h"
#include "heed/backend/reference.h"
#include "heed/kernels/reference/golden_cases.h"

namespace heed::testing {
namespace {

namespace reference = kernels::reference;

class EveryGolden : public ::testing::TestWithParam<std::tuple<std::string, Path, at::ScalarType>> {};

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& golden : reference::golden()) names.push_back(golden.name);
  return names;
}

Case case_of(const reference::Problem<double>& p, const at::TensorOptions& options) {
  const auto leaf = [&](const reference::Array<double>& array) {
    const auto tensor = backend::to_tensor(array, options);
    return tensor.defined() ? tensor.requires_grad_() : tensor;
  };
  Case c;
  c.mechanism = Mechanism::parse(p.mechanism.score.to_string() + " + " + p.mechanism.align.to_string() + ", " +
                                 p.mechanism.dimensionality.to_string());
  for (const auto& [name, array] : p.parameters) c.parameters.set(name, leaf(array));
  c.query = leaf(p.query);
  c.keys = leaf(p.keys);
  c.values = leaf(p.values);
  auto& mask = c.call.mask;
  if (!p.keep.empty()) {
    const std::vector<double> keep(p.keep.data.begin(), p.keep.data.end());
    mask.keep = at::tensor(keep, at::kDouble).view(p.keep.shape) > 0;
  }
  if (!p.key_count.empty()) mask.key_count = at::tensor(p.key_count.data);
  mask.causal = static_cast<Causal>(p.causal);
  mask.left = p.left;
  mask.right = p.right;
  mask.first_query = p.first_query;
  c.call.bias = {leaf(p.bias), leaf(p.per_key), leaf(p.relative), leaf(p.alibi)};
  c.call.scale = p.scale;
  c.call.soft_cap = p.soft_cap;
  c.call.noise = {.sample = p.sample,
                  .dropout = p.dropout,
                  .seed = p.seed,
                  .stream = p.stream,
                  .first_row = p.first_row,
                  .uniforms = backend::to_tensor(p.uniforms, options)};
  return c;
}

TEST_P(EveryGolden, IsReproduced) {
  const auto& [name, path, type] = GetParam();
  const double tolerance = type == at::kDouble ? 1e-7 : 2e-5;
  for (const auto& golden : reference::golden()) {
    if (golden.name != name) continue;
    auto c = case_of(golden.problem, at::TensorOptions().dtype(type));
    c.call.path = path;
    c.call.outputs = everything(c.mechanism, path);
    const std::string missing = path == Path::fused ? no_kernel(c.mechanism, c.call) : "";
    if (!missing.empty()) GTEST_SKIP() << missing;
    const auto a = c.run();
    const auto expect = [&](const std::string& what, const Tensor& found, const std::vector<double>& numbers) {
      if (numbers.empty() && !found.defined()) return;
      ASSERT_TRUE(found.defined()) << what;
      EXPECT_TRUE(close(found.flatten(), at::tensor(numbers, at::kDouble), tolerance)) << what;
    };
    const std::map<std::string, Tensor> outputs{{"context", a.context},
                                                {"weights", a.weights},
                                                {"lse", a.lse},
                                                {"entropy", a.entropy},
                                                {"log_probability", a.log_probability},
                                                {"selected", a.selected}};
    for (const auto& [what, numbers] : golden.expected) {
      if (what != "context" && what != "lse" && !brings_weights(c.mechanism, path)) continue;
      if (what == "scores") {  // not an output: the alignment identity returns them as weights
        auto scores = c;
        scores.mechanism = Mechanism::parse(golden.problem.mechanism.score.to_string() + " + identity, " +
                                            golden.problem.mechanism.dimensionality.to_string());
        scores.call.outputs = Outputs{.weights = true};
        scores.call.noise = Noise{};
        Parameters own;
        for (const auto& [parameter, tensor] : c.parameters)
          if (parameter.rfind("score.", 0) == 0) own.set(parameter, tensor);
        scores.parameters = own;
        expect(what, scores.run().weights, numbers);
      } else {
        expect(what, outputs.at(what), numbers);
      }
    }
    if (golden.upstream.empty() || path == Path::reference) continue;
    const auto upstream = at::tensor(golden.upstream, at::kDouble).view(a.context.sizes()).to(type);
    const auto leaves = c.leaves();
    const auto found = a.context.requires_grad() ? gradients((a.context * upstream).sum(), c.tensors())
                                                 : std::vector<Tensor>(leaves.size());
    for (const auto& [what, numbers] : golden.grads)
      for (size_t i = 0; i < leaves.size(); ++i)
        if (leaves[i].first == what)
          expect("gradient by " + what, found[i].defined() ? found[i] : at::zeros_like(leaves[i].second), numbers);
  }
}

std::string golden_test_name(const ::testing::TestParamInfo<std::tuple<std::string, Path, at::ScalarType>>& test) {
  const auto& [name, path, type] = test.param;
  std::string text = name + "_" + to_string(path) + (type == at::kDouble ? "_double" : "_float");
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

INSTANTIATE_TEST_SUITE_P(Paths, EveryGolden,
                         ::testing::Combine(::testing::ValuesIn(golden_names()),
                                            ::testing::Values(Path::fused, Path::composed, Path::stored,
                                                              Path::reference),
                                            ::testing::Values(at::kDouble, at::kFloat)),
                         golden_test_name);

/// q = (1, .5); k = (1, 0), (0, 1), (1, 1); values as in the golden fixture.
Case fixture(const std::string& spec) {
  Case c;
  c.mechanism = Mechanism::parse(spec);
  c.query = at::tensor({1.0, 0.5}, at::kDouble).view({1, 1, 2});
  c.keys = at::tensor({1.0, 0.0, 0.0, 1.0, 1.0, 1.0}, at::kDouble).view({1, 3, 2});
  c.values = at::tensor({1.0, 2.0, 3.0, -1.0, 0.0, 4.0}, at::kDouble).view({1, 3, 2});
  return c;
}

// Gold links {0, 2}: -1/2 (log a_0 + log a_2), without requesting the weights.
TEST(Supervision, AtLinksIsTheCrossEntropyOfTheGoldenWeights) {
  auto c = fixture("dot + softmax");
  c.call.outputs.links = at::tensor(std::vector<int64_t>{0, 0, 0, 0, 0, 0, 0, 2}).view({2, 4});
  EXPECT_NEAR(-c.run().link_log_weights.mean().item<double>(), 0.93026967, 1e-7);
}

}  // namespace
}  // namespace heed::testing
