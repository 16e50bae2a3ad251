// Call::replace_weights: other weights in place of those that a mechanism computes.

#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/base/check.h"

namespace heed {
namespace {

struct Case {
  std::string mechanism;
  int64_t heads = 1;
};

Attention module_of(const Case& one) {
  AttentionOptions options;
  options.query_dim = options.key_dim = options.value_dim = options.hidden_dim = 8;
  options.num_heads = one.heads;
  options.mechanism = Mechanism::parse(one.mechanism);
  Attention made(options);
  made->eval();
  return made;
}

const std::vector<Case> kCases{{"scaled_dot + softmax"},      {"additive + sparsemax"},        {"dot + sigmoid"},
                               {"additive + softmax, multi"}, {"scaled_dot + entmax(1.5)", 2}, {"general + local_p"},
                               {"additive + softmax", 4}};

TEST(ReplaceWeights, OwnWeightsGiveTheOwnContext) {
  const at::NoGradGuard no_grad;
  for (const auto& one : kCases) {
    at::manual_seed(3);
    Attention attention = module_of(one);
    const Tensor query = at::randn({2, 3, 8}), keys = at::randn({2, 5, 8}), values = at::randn({2, 5, 8});
    Call call;
    call.mask.key_count = at::tensor({5, 4}, at::kLong);
    const Tensor plain = attention->forward(query, keys, values, call).context;
    call.replace_weights = [](const Tensor& weights, const Tensor&) { return weights; };
    const Attended same = attention->forward(query, keys, values, call);
    EXPECT_TRUE(at::allclose(same.context, plain, 1e-5, 1e-6)) << one.mechanism;
    EXPECT_TRUE(same.weights.defined()) << one.mechanism;
    const Memory memory = attention->prepare(keys, values, call.mask);
    Call from_memory;
    from_memory.replace_weights = call.replace_weights;
    EXPECT_TRUE(at::allclose(attention->forward(query, memory, from_memory).context, plain, 1e-5, 1e-6))
        << one.mechanism;
  }
}

TEST(ReplaceWeights, EqualWeightsGiveTheMeanOfTheValues) {
  Attention attention = module_of({"additive + softmax"});
  const Tensor query = at::randn({1, 2, 8}), keys = at::randn({1, 4, 8}), values = at::randn({1, 4, 8});
  Call call;
  call.replace_weights = [](const Tensor& weights, const Tensor& read) {
    EXPECT_EQ(read.sizes(), (std::vector<int64_t>{1, 4, 8}));
    return at::full({1, 1, weights.size(-1)}, 0.25, weights.options());  // of all queries
  };
  const Attended found = attention->forward(query, keys, values, call);
  EXPECT_TRUE(at::allclose(found.context, values.mean(1, true).expand({1, 2, 8}), 1e-5, 1e-6));
  EXPECT_TRUE(at::equal(found.weights, at::full({1, 2, 4}, 0.25)));
}

TEST(ReplaceWeights, ContextHasTheGradientOfTheGivenWeightsAlone) {
  Attention attention = module_of({"additive + softmax"});
  const Tensor query = at::randn({1, 1, 8}), keys = at::randn({1, 4, 8}), values = at::randn({1, 4, 8});
  const Tensor searched = at::softmax(at::randn({1, 1, 4}), -1).requires_grad_();
  Call call;
  call.replace_weights = [&](const Tensor&, const Tensor&) { return searched; };
  attention->forward(query, keys, values, call).context.sum().backward();
  EXPECT_TRUE(at::allclose(searched.grad(), values.sum(-1).unsqueeze(1), 1e-4, 1e-5));
  for (const auto& parameter : attention->parameters()) EXPECT_FALSE(parameter.grad().defined());
}

TEST(ReplaceWeights, NanInPaddingReachesNothing) {
  Attention attention = module_of({"scaled_dot + softmax"});
  Tensor values = at::randn({1, 4, 8});
  values.select(1, 3).fill_(std::numeric_limits<float>::quiet_NaN());
  Call call;
  call.mask.key_count = at::tensor({3}, at::kLong);
  call.replace_weights = [](const Tensor& weights, const Tensor&) { return weights; };
  EXPECT_TRUE(at::isfinite(attention->forward(at::randn({1, 2, 8}), values, values, call).context).all().item<bool>());
}

TEST(ReplaceWeights, AnotherShapeIsRefused) {
  Attention attention = module_of({"scaled_dot + softmax"});
  const Tensor x = at::randn({1, 4, 8});
  Call call;
  call.replace_weights = [](const Tensor&, const Tensor&) { return at::zeros({1, 4, 5}); };
  EXPECT_THROW(attention->forward(x, x, x, call), Error);
}

}  // namespace
}  // namespace heed
