// The module Attention: heads, memory, key-value cache, clones.

#include "heed/attention/attention.h"

#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

class EveryModule : public ::testing::TestWithParam<std::tuple<std::string, int64_t>> {
 protected:
  std::string to_string() const { return std::get<0>(GetParam()); }
  int64_t heads() const { return std::get<1>(GetParam()); }
  Attention make() const {
    at::manual_seed(3);
    Attention attention(AttentionOptions{.query_dim = kWidth,
                                         .key_dim = kWidth,
                                         .value_dim = 4,
                                         .hidden_dim = 8,
                                         .num_heads = heads(),
                                         .num_kv_heads = heads() > 1 ? 2 : 0,
                                         .mechanism = Mechanism::parse(to_string())});
    attention->to(at::kDouble);
    attention->eval();
    return attention;
  }
  const Tensor query_ = (at::manual_seed(1), at::randn({2, 3, kWidth}, kDouble)),
               keys_ = at::randn({2, 5, kWidth}, kDouble), values_ = at::randn({2, 5, 4}, kDouble);
};

const auto kVocabulary = ::testing::Values(
    "additive + softmax", "scaled_dot + sparsemax", "cosine(3, learned) + local_p(2)", "general + entmax(1.4, learned)",
    "additive + hard, multi", "concat + softmax, multi(elementwise)", "biased_general + top_k(2), multi(lift)",
    "activated_general + sigmoid", "euclidean + reinforced", "location(9) + threshold", "self_attentive + softmax");
INSTANTIATE_TEST_SUITE_P(
    Heads, EveryModule, ::testing::Combine(kVocabulary, ::testing::Values(1, 4)), [](const auto& test) {
      return test_name({std::get<0>(test.param), 0}) + "_" + std::to_string(std::get<1>(test.param));
    });

TEST_P(EveryModule, LeavesNoTraceOfPaddingInAnyGradient) {
  auto attention = make();
  auto q = query_.clone(), k = keys_.clone(), v = values_.clone();
  Call call;
  call.mask.key_count = at::tensor(std::vector<int64_t>{3, 0});
  const auto clean = attention->forward(q, k, v, call).context;
  std::vector<Tensor> expected;
  if (clean.requires_grad()) clean.sum().backward();
  for (const auto& p : attention->parameters()) expected.push_back(p.grad().defined() ? p.grad().clone() : Tensor());
  attention->zero_grad();
  for (auto& x : {k, v}) {
    x.select(1, 3).fill_(std::nan(""));
    x.select(1, 4).fill_(INFINITY);
    x[1].fill_(std::nan(""));
  }
  q[1].fill_(std::nan(""));
  const auto dirty = attention->forward(q, k, v, call).context;
  EXPECT_TRUE(same_bits(dirty, clean));
  if (dirty.requires_grad()) dirty.sum().backward();
  const auto parameters = attention->parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!expected[i].defined()) continue;
    EXPECT_TRUE(close(parameters[i].grad(), expected[i], 0.0)) << attention->named_parameters().keys()[i];
  }
  EXPECT_TRUE(same_bits(attention->forward(q, attention->prepare(k, v, call.mask)).context, clean));
}

TEST_P(EveryModule, GivesTheSameFromAMemory) {
  auto attention = make();
  Call call;
  call.outputs.weights = true;
  call.mask.causal = Causal::bottom_right;
  Mask keys;
  keys.key_count = at::tensor(std::vector<int64_t>{5, 4});
  Call whole = call;
  whole.mask.key_count = keys.key_count;
  const auto expected = attention->forward(query_, keys_, values_, whole);
  const auto memory = attention->prepare(keys_, values_, keys);
  const auto found = attention->forward(query_, memory, call);
  EXPECT_TRUE(close(found.context, expected.context, 1e-12));
  EXPECT_TRUE(close(found.weights, expected.weights, 1e-12));
}

TEST_P(EveryModule, IgnoresKeysThatOnlyTheCallMasks) {
  auto attention = make();
  if (attention->options().mechanism.align().looks_at_keys()) GTEST_SKIP() << "its policy is that of the memory";
  auto k = keys_.clone(), v = values_.clone();
  k.select(1, 4).fill_(std::nan(""));
  v.select(1, 4).fill_(std::nan(""));
  Call call;
  call.mask.key_count = at::tensor(std::vector<int64_t>{4, 2});
  const auto expected = attention->forward(query_, k, v, call).context;
  EXPECT_TRUE(close(attention->forward(query_, attention->prepare(k, v), call).context, expected, 1e-12));
  EXPECT_TRUE(at::isfinite(expected).all().item<bool>());
}

TEST_P(EveryModule, KnowsTheTrueLengthOfAMemory) {
  auto attention = make();
  if (attention->options().mechanism.align().looks_at_keys()) GTEST_SKIP() << "its policy is that of the memory";
  Call call;
  call.mask.causal = Causal::top_left;
  Call whole = call;
  whole.mask.key_count = at::tensor(std::vector<int64_t>{5, 4});
  const auto memory = attention->prepare(keys_, values_, {.key_count = whole.mask.key_count});
  EXPECT_TRUE(close(attention->forward(query_, memory, call).context,
                    attention->forward(query_, keys_, values_, whole).context, 1e-12));
}

TEST_P(EveryModule, WorksOnEmptyInputs) {
  auto attention = make();
  for (const auto& [lq, lk] : {std::pair{0, 5}, {3, 0}, {0, 0}}) {
    const auto q = query_.narrow(1, 0, lq), k = keys_.narrow(1, 0, lk), v = values_.narrow(1, 0, lk);
    EXPECT_EQ(attention->forward(q, k, v).context.sizes(), at::IntArrayRef({2, lq, 4}));
    EXPECT_EQ(attention->forward(q, attention->prepare(k, v)).context.sizes(), at::IntArrayRef({2, lq, 4}));
  }
}

TEST_P(EveryModule, GrowsAMemoryKeyByKey) {
  auto attention = make();
  if (!attention->options().mechanism.align().appendable()) {
    const auto memory = attention->prepare(keys_, values_);
    EXPECT_THROW(attention->append(memory, keys_, values_), Error);
    return;
  }
  for (const bool grad : {true, false}) {
    const at::AutoGradMode mode(grad);
    Memory memory = attention->prepare(keys_.narrow(1, 0, 2), values_.narrow(1, 0, 2));
    for (int64_t j = 2; j < 5; ++j) memory = attention->append(memory, keys_.narrow(1, j, 1), values_.narrow(1, j, 1));
    EXPECT_EQ(memory.length(), 5);
    const auto expected = attention->forward(query_, attention->prepare(keys_, values_)).context;
    EXPECT_TRUE(close(attention->forward(query_, memory).context, expected, 1e-12));
  }
}

TEST_P(EveryModule, IsClonedWithItsParameters) {
  auto attention = make();
  const auto expected = attention->forward(query_, keys_, values_).context;
  const auto copy = std::dynamic_pointer_cast<AttentionImpl>(attention->clone());
  {
    const at::NoGradGuard no_grad;
    for (auto& p : attention->parameters()) p.fill_(0.123);
  }
  EXPECT_TRUE(same_bits(copy->forward(query_, keys_, values_).context, expected));
}

// Without num_kv_heads every head has keys and values of its own, so the projections are as wide as those of the query.
TEST(Attention, GivesEachHeadKeysOfItsOwnUnlessToldOtherwise) {
  const auto projections = [](int64_t key_heads) {
    Attention attention(AttentionOptions{
        .query_dim = 8, .key_dim = 8, .value_dim = 8, .hidden_dim = 8, .num_heads = 4, .num_kv_heads = key_heads});
    const auto named = attention->named();
    return std::tuple(attention->options().num_kv_heads, named["heads.keys"].size(0), named["heads.values"].size(0));
  };
  EXPECT_EQ(projections(0), std::tuple(4, 8, 8));
  EXPECT_EQ(projections(4), projections(0));
  EXPECT_EQ(projections(1), std::tuple(1, 2, 2));
}

// Two memories that were appended to the same one must not see each other's keys.
TEST(Memory, LetsBeamsShareAPast) {
  const at::NoGradGuard no_grad;
  Attention attention(
      AttentionOptions{.query_dim = 2, .key_dim = 2, .value_dim = 2, .mechanism = Mechanism::parse("dot + softmax")});
  const auto row = [](double x) { return at::full({1, 1, 2}, x); };
  Memory past = attention->append(attention->prepare(row(1), row(1)), row(2), row(2));
  const Memory left = attention->append(past, row(3), row(30)), right = attention->append(past, row(3), row(-30));
  EXPECT_GT(attention->forward(row(1), left).context.max().item<float>(), 10);
  EXPECT_LT(attention->forward(row(1), right).context.min().item<float>(), -10);
}

// location(2) cannot score keys from index 2 on: they count as masked.
TEST(Memory, DoesNotReadKeysThatCannotBeScored) {
  for (const int64_t heads : {1, 2}) {
    Attention attention(AttentionOptions{.query_dim = 4,
                                         .key_dim = 4,
                                         .value_dim = 4,
                                         .num_heads = heads,
                                         .mechanism = Mechanism::parse("location(2) + softmax")});
    const auto q = at::randn({1, 3, 4}), k = at::randn({1, 4, 4}), v = at::randn({1, 4, 4});
    v.select(1, 3).fill_(std::nan(""));
    const auto context = attention->forward(q, k, v).context;
    EXPECT_TRUE(at::isfinite(context).all().item<bool>());
    EXPECT_TRUE(close(attention->forward(q, attention->prepare(k, v)).context, context, 1e-6));
    context.sum().backward();
    for (const auto& p : attention->parameters())
      EXPECT_TRUE(!p.grad().defined() || at::isfinite(p.grad()).all().item<bool>());
  }
}

TEST(Memory, IsACopy) {
  Attention attention(
      AttentionOptions{.query_dim = 2, .key_dim = 2, .value_dim = 2, .mechanism = Mechanism::parse("dot + softmax")});
  const auto buffer = at::ones({1, 1, 2});
  const Memory memory = attention->prepare(buffer, buffer);
  buffer.fill_(7);
  EXPECT_TRUE(close(attention->forward(at::ones({1, 1, 2}), memory).context, at::ones({1, 1, 2})));
}

// Autograd saves the keys of earlier steps; append() must not write into the saved tensors.
TEST(Memory, CanGrowWhileQueriesLearn) {
  Attention attention(
      AttentionOptions{.query_dim = 2, .key_dim = 2, .value_dim = 2, .mechanism = Mechanism::parse("dot + softmax")});
  const auto q = at::randn({1, 1, 2}).requires_grad_();
  Memory memory = attention->prepare(at::randn({1, 1, 2}), at::randn({1, 1, 2}));
  Tensor sum = at::zeros({});
  for (int step = 0; step < 3; ++step) {
    memory = attention->append(memory, at::randn({1, 1, 2}), at::randn({1, 1, 2}));
    sum = sum + attention->forward(q, memory).context.sum();
  }
  EXPECT_NO_THROW(sum.backward());
}

TEST(Memory, MayHavePaddingInTheMiddle) {
  Attention attention(AttentionOptions{.query_dim = 3,
                                       .key_dim = 3,
                                       .value_dim = 2,
                                       .hidden_dim = 4,
                                       .mechanism = Mechanism::parse("additive + softmax")});
  at::manual_seed(2);
  const auto q = at::randn({2, 1, 3}), k = at::randn({2, 4, 3}), v = at::randn({2, 4, 2}), more = at::randn({2, 1, 3}),
             more_v = at::randn({2, 1, 2});
  Mask mask;
  mask.key_count = at::tensor(std::vector<int64_t>{4, 2});
  const auto grown = attention->append(attention->prepare(k, v, mask), more, more_v);
  const auto found = attention->forward(q, grown).context[1];
  const auto short_k = at::cat({k.narrow(1, 0, 2), more}, 1), short_v = at::cat({v.narrow(1, 0, 2), more_v}, 1);
  EXPECT_TRUE(close(found, attention->forward(q, short_k, short_v).context[1], 1e-6));
}

TEST(Attention, SamplesInTrainingButNotInEvaluation) {
  Attention attention(
      AttentionOptions{.query_dim = 2, .key_dim = 2, .value_dim = 1, .mechanism = Mechanism::parse("dot + hard")});
  const auto q = at::zeros({1, 200, 2}), k = at::zeros({1, 4, 2}), v = at::arange(4, at::kFloat).view({1, 4, 1});
  Call call;
  call.noise.seed = 9;
  attention->eval();
  EXPECT_EQ(largest(attention->forward(q, k, v, call).context), 0.0);  // the first key on ties
  attention->train();
  const auto first = attention->forward(q, k, v, call).context, second = attention->forward(q, k, v, call).context;
  EXPECT_GT(largest(first), 0.0);
  EXPECT_FALSE(first.equal(second));  // another stream
}

TEST(Attention, DropsWeightsOnlyInTraining) {
  Attention attention(AttentionOptions{
      .query_dim = 2, .key_dim = 2, .value_dim = 1, .mechanism = Mechanism::parse("dot + uniform"), .dropout = 0.5});
  const auto q = at::zeros({1, 400, 2}), k = at::zeros({1, 10, 2}), v = at::ones({1, 10, 1});
  attention->eval();
  EXPECT_TRUE(close(attention->forward(q, k, v).context, at::ones({1, 400, 1}), 1e-6));
  attention->train();
  const auto context = attention->forward(q, k, v).context;
  EXPECT_GT(context.std().item<float>(), 0.1);
  EXPECT_NEAR(context.mean().item<float>(), 1, 0.08);  // 4000 samples of +-1: 5 sigma
}

TEST(SelfAttentive, NeedsNoQuery) {
  Attention attention(AttentionOptions{.query_dim = 0,
                                       .key_dim = 3,
                                       .value_dim = 2,
                                       .hidden_dim = 4,
                                       .mechanism = Mechanism::parse("self_attentive(queries=3) + softmax")});
  const auto k = at::randn({2, 5, 3}), v = at::randn({2, 5, 2});
  EXPECT_EQ(attention->forward({}, k, v).context.sizes(), at::IntArrayRef({2, 3, 2}));
  EXPECT_TRUE(
      close(attention->forward({}, attention->prepare(k, v)).context, attention->forward({}, k, v).context, 1e-6));
}

TEST(ScaledDotProductAttention, AgreesWithTorch) {
  at::manual_seed(4);
  const auto q = at::randn({2, 3, 4, 8}, kDouble), k = at::randn({2, 3, 6, 8}, kDouble),
             v = at::randn({2, 3, 6, 5}, kDouble);
  const auto by_hand = [&](const Tensor& added, double scale) {
    return at::matmul(at::softmax(at::matmul(q, k.transpose(-1, -2)) * scale + added, -1), v);
  };
  const auto none = at::zeros({4, 6}, kDouble);
  EXPECT_TRUE(close(heed::scaled_dot_product_attention(q, k, v), by_hand(none, 1 / std::sqrt(8.0))));
  EXPECT_TRUE(close(heed::scaled_dot_product_attention(q, k, v, {}, 0, false, 0.2), by_hand(none, 0.2)));
  const auto keep = at::ones({4, 6}, at::kBool).tril();
  const auto causal = none.masked_fill(keep.logical_not(), -INFINITY);
  EXPECT_TRUE(close(heed::scaled_dot_product_attention(q, k, v, {}, 0, true), by_hand(causal, 1 / std::sqrt(8.0))));
  EXPECT_TRUE(close(heed::scaled_dot_product_attention(q, k, v, keep), by_hand(causal, 1 / std::sqrt(8.0))));
  const auto added = at::randn({2, 1, 4, 6}, kDouble);
  EXPECT_TRUE(close(heed::scaled_dot_product_attention(q, k, v, added), by_hand(added, 1 / std::sqrt(8.0))));
  EXPECT_TRUE(close(heed::scaled_dot_product_attention(q[0], k[0], v[0]), by_hand(none, 1 / std::sqrt(8.0))[0]));
  EXPECT_TRUE(
      close(heed::scaled_dot_product_attention(q[0][0], k[0][0], v[0][0]), by_hand(none, 1 / std::sqrt(8.0))[0][0]));
  const auto five = heed::scaled_dot_product_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), keep);
  EXPECT_TRUE(close(five[0], by_hand(causal, 1 / std::sqrt(8.0))));
}

TEST(Memory, RefusesIntegers) {
  Attention attention(AttentionOptions{.query_dim = 4, .key_dim = 4, .value_dim = 4});
  const auto x = at::ones({2, 3, 4}, at::kLong);
  EXPECT_THROW(attention->prepare(x, x), Error);
}

TEST(Module, TakesAMaskForNoQueries) {
  Attention attention(AttentionOptions{.query_dim = 4, .key_dim = 4, .value_dim = 4, .num_heads = 2});
  Call call;
  call.mask.keep = at::ones({2, 0, 3}, at::kBool);
  const auto context =
      attention->forward(at::randn({2, 0, 4}), at::randn({2, 3, 4}), at::randn({2, 3, 4}), call).context;
  EXPECT_EQ(context.sizes(), (std::vector<int64_t>{2, 0, 4}));
}

TEST(Attention, RefusesSoftWeightsForOtherAlignmentsThanHard) {
  Attention attention(
      AttentionOptions{.query_dim = 4, .key_dim = 4, .value_dim = 4, .mechanism = Mechanism::parse("dot + sparsemax")});
  EXPECT_THROW(attention->set_soft(true), Error);
  attention->set_soft(false);  // allowed: nothing changes
}

// 200 equal weights of 0.005, below the default theta: the first key stays, and its score has a gradient. With
// keep_best=false all weights are 0, and so is the gradient.
TEST(Threshold, LearnsFromEqualScores) {
  const auto query = at::zeros({1, 1, 4}, kDouble).requires_grad_();
  const auto keys = at::randn({1, 200, 4}, kDouble);
  const auto gradient = [&](const std::string& spec) {
    const auto context = attend(query, keys, keys, Mechanism::parse(spec)).context;
    return gradients(context.square().sum(), {query})[0].abs().sum().item<double>();
  };
  EXPECT_GT(gradient("dot + threshold"), 1e-6);
  EXPECT_EQ(gradient("dot + threshold(keep_best=false)"), 0);
}

}  // namespace
}  // namespace heed::testing
