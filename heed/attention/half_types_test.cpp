// float16 and bfloat16: a call on them is the float call on the same numbers, rounded once at the end.

#include "heed/attention/attention.h"
#include "heed/attention/graph.h"
#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

constexpr at::ScalarType kHalfTypes[] = {at::kHalf, at::kBFloat16};

/// The case with all its tensors as leaves of another type.
Case in_type(const Case& c, at::ScalarType type) {
  Case other = c;
  const auto leaf = [&](const Tensor& x) { return x.defined() ? x.detach().to(type).requires_grad_() : x; };
  for (const auto& [name, tensor] : c.parameters) other.parameters.set(name, leaf(tensor));
  for (Tensor* x : {&other.query, &other.keys, &other.values, &other.call.bias.full, &other.call.bias.per_key,
                    &other.call.bias.relative, &other.call.bias.alibi})
    *x = leaf(*x);
  return other;
}

class EveryHalfMechanism : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryHalfMechanism, IsTheFloatCallRoundedOnce) {
  for (const at::ScalarType type : kHalfTypes)
    for (const char* mask : {"none", "keep", "key_count"}) {
      SCOPED_TRACE(std::string(toString(type)) + ", mask " + mask);
      Case narrow = in_type(make_case(GetParam(), mask, {}, /*biased=*/true, at::kFloat), type);
      narrow.call.path = Path::fastest;
      narrow.call.outputs.weights = brings_weights(narrow.mechanism, Path::fused);
      const Case wide = in_type(narrow, at::kFloat);
      const Attended found = narrow.run(), expected = wide.run();
      ASSERT_EQ(found.context.scalar_type(), type);
      EXPECT_TRUE(same_bits(found.context, expected.context.to(type)));
      EXPECT_TRUE(same_bits(found.weights, expected.weights));
      EXPECT_EQ(found.plan.to_string(), expected.plan.to_string());

      const auto loss = [&](const Attended& a) {
        const Tensor context = a.context.to(type).to(at::kFloat);
        return (context * waves(context)).sum();
      };
      const auto leaves = narrow.leaves();
      const auto grads = gradients(loss(found), narrow.tensors()), all = gradients(loss(expected), wide.tensors());
      for (size_t i = 0; i < leaves.size(); ++i) {
        ASSERT_EQ(grads[i].defined(), all[i].defined()) << leaves[i].first;
        if (!grads[i].defined()) continue;
        EXPECT_EQ(grads[i].scalar_type(), type) << leaves[i].first;
        EXPECT_TRUE(same_bits(grads[i], all[i].to(type))) << leaves[i].first;
      }
    }
}
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryHalfMechanism, ::testing::ValuesIn(every_mechanism()), test_name);

TEST(HalfTypes, MayHaveParametersAndBiasesInFloat) {
  Case narrow = in_type(make_case("additive + entmax(1.5)", "keep", {}, /*biased=*/true, at::kFloat), at::kBFloat16);
  const Case wide = in_type(narrow, at::kFloat);
  narrow.parameters = wide.parameters;
  narrow.call.bias = wide.call.bias;
  const Tensor context = narrow.run().context;
  EXPECT_TRUE(same_bits(context, wide.run().context.to(at::kBFloat16)));
  const auto grads = gradients(context.sum(), narrow.tensors());
  for (size_t i = 0; i < grads.size(); ++i) EXPECT_EQ(grads[i].scalar_type(), narrow.tensors()[i].scalar_type()) << i;
}

TEST(HalfTypes, KeepNaNInPaddingOut) {
  Case c = in_type(make_case("general + softmax", "key_count", {}, /*biased=*/false, at::kFloat), at::kHalf);
  const Tensor clean = c.run().context;
  const at::NoGradGuard no_grad;
  c.keys[0].slice(1, 4).fill_(NAN);
  c.values[0].slice(1, 4).fill_(NAN);
  EXPECT_TRUE(same_bits(c.run().context, clean));
}

TEST(HalfTypes, HaveEmptyAxes) {
  const auto options = at::TensorOptions().dtype(at::kBFloat16);
  const auto context = attend(at::ones({2, 3, 4}, options), at::ones({2, 0, 4}, options), at::ones({2, 0, 5}, options),
                              Mechanism::parse("scaled_dot + softmax"), {})
                           .context;
  EXPECT_TRUE(same_bits(context, at::zeros({2, 3, 5}, options)));
}

TEST(HalfTypes, HaveSecondDerivatives) {
  const Case narrow = in_type(make_case("dot + softmax", "none", {}, /*biased=*/false, at::kFloat), at::kBFloat16);
  const auto first = gradients(narrow.run().context.to(at::kFloat).pow(2).sum(), {narrow.query}, /*create_graph=*/true);
  const auto second = gradients(first[0].to(at::kFloat).pow(2).sum(), {narrow.keys});
  ASSERT_TRUE(second[0].defined());
  EXPECT_EQ(second[0].scalar_type(), at::kBFloat16);
  EXPECT_GT(largest(second[0]), 0);
}

TEST(HalfTypes, AreNotMixed) {
  const auto x = at::randn({2, 3, 4});
  const auto mechanism = Mechanism::parse("dot + softmax");
  const auto refused = [&](const Tensor& q, const Tensor& k, const Tensor& v, const std::string& part) {
    try {
      attend(q, k, v, mechanism, {});
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  const Tensor half = x.to(at::kHalf), brain = x.to(at::kBFloat16);
  refused(x, half, half, "query is Float, keys Half, values Half; expected one type");
  refused(half, half, brain, "values BFloat16");
  refused(half, x, x, "query is Half, expected float or double");
}

TEST(HalfTypes, RunInTheModule) {
  at::manual_seed(3);
  for (const double rotary : {0.0, 10000.0}) {
    AttentionOptions options{.query_dim = 8, .key_dim = 8, .value_dim = 8, .num_heads = 2};
    options.rotary.base = rotary;
    Attention attention(options);
    attention->to(at::kBFloat16);
    const auto x = at::randn({2, 5, 8}).to(at::kBFloat16).requires_grad_();
    const Tensor context = attention->forward(x, x, x).context;
    ASSERT_EQ(context.scalar_type(), at::kBFloat16);
    context.to(at::kFloat).pow(2).sum().backward();
    EXPECT_EQ(x.grad().scalar_type(), at::kBFloat16);
    for (const auto& parameter : attention->parameters()) EXPECT_TRUE(parameter.grad().defined());

    attention->to(at::kFloat);
    const Tensor full = attention->forward(x.to(at::kFloat), x.to(at::kFloat), x.to(at::kFloat)).context;
    EXPECT_TRUE(close(context, full, 0.03 * largest(full)));  // a few roundings to 8 bits
  }
}

TEST(HalfTypes, AttendAMemory) {
  at::manual_seed(5);
  for (const char* mechanism : {"scaled_dot + softmax", "additive + entmax(1.5)"})
    for (const int64_t heads : {1, 2}) {
      Attention attention(AttentionOptions{
          .query_dim = 8, .key_dim = 8, .value_dim = 8, .num_heads = heads, .mechanism = Mechanism::parse(mechanism)});
      attention->to(at::kBFloat16);
      const auto x = at::randn({2, 5, 8}).to(at::kBFloat16).requires_grad_();
      const auto keep = at::ones({2, 1, 5}, at::kBool);
      keep[0][0][4] = false;
      Mask mask;
      mask.keep = keep;
      Memory memory = attention->prepare(x.narrow(1, 0, 3), x.narrow(1, 0, 3));
      memory = attention->append(memory, x.narrow(1, 3, 2), x.narrow(1, 3, 2));
      const Tensor found = attention->forward(x, memory).context;
      ASSERT_EQ(found.scalar_type(), at::kBFloat16);
      EXPECT_TRUE(close(found, attention->forward(x, x, x).context, 0.03 * largest(found)));
      found.to(at::kFloat).pow(2).sum().backward();
      EXPECT_EQ(x.grad().scalar_type(), at::kBFloat16);
      for (const auto& parameter : attention->parameters()) EXPECT_TRUE(parameter.grad().defined());
      Call call;
      call.mask = mask;
      const Tensor masked = attention->forward(x, attention->prepare(x, x, mask)).context;
      EXPECT_TRUE(close(masked, attention->forward(x, x, x, call).context, 0.03 * largest(masked)));
    }
}

TEST(HalfTypes, AttendEdges) {
  at::manual_seed(6);
  const Graph graph(at::tensor({0, 1, 2, 3, 0, 2, 1, 0}, at::kLong).view({2, 4}), 4);
  for (const at::ScalarType type : kHalfTypes) {
    const auto made = [&](at::IntArrayRef shape) { return at::randn(shape).to(type).requires_grad_(); };
    const Tensor receiver = made({4, 2}), sender = made({4, 2}), values = made({4, 2, 3});
    GraphCall call;
    call.weights = true;
    const auto found = graph_attend(graph, {receiver, sender}, values, call);
    const auto f = [](const Tensor& x) { return x.detach().to(at::kFloat); };
    const auto expected = graph_attend(graph, {f(receiver), f(sender)}, f(values), call);
    ASSERT_EQ(found.context.scalar_type(), type);
    EXPECT_TRUE(same_bits(found.context, expected.context.to(type)));
    EXPECT_TRUE(same_bits(found.weights, expected.weights));
    found.context.to(at::kFloat).pow(2).sum().backward();
    for (const auto& x : {receiver, sender, values}) EXPECT_EQ(x.grad().scalar_type(), type);
  }
}

TEST(HalfTypes, RunInScaledDotProductAttention) {
  at::manual_seed(4);
  const auto q = at::randn({2, 2, 4, 8}).to(at::kHalf), k = at::randn({2, 2, 6, 8}).to(at::kHalf);
  const Tensor found = heed::scaled_dot_product_attention(q, k, k);
  const auto f = [](const Tensor& x) { return x.to(at::kFloat); };
  EXPECT_TRUE(same_bits(found, heed::scaled_dot_product_attention(f(q), f(k), f(k)).to(at::kHalf)));
}

}  // namespace
}  // namespace heed::testing
