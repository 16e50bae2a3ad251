// Position encodings against golden values and formulas, and through the module.

#include "heed/attention/positions.h"

#include "heed/attention/attention.h"
#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

Tensor numbers(const std::vector<double>& x) {
  return at::tensor(x, kDouble);
}

TEST(Sinusoidal, HasTheGoldenValues) {
  const auto table = sinusoidal_positions(5, 4, Layout::interleaved, 0, kDouble);
  EXPECT_EQ(table.sizes(), at::IntArrayRef({5, 4}));
  EXPECT_TRUE(close(table[3], numbers({0.14112001, -0.9899925, 0.0299955, 0.99955003}), 1e-7));
  EXPECT_TRUE(close(sinusoidal_positions(1, 4, Layout::interleaved, 3, kDouble)[0], table[3], 0));
}

// As in tensor2tensor and OpenNMT-tf: positions from 1, rate exp(-k ln 10000 / (D/2 - 1)).
TEST(Sinusoidal, InHalvesHasTheFormulaOfTensor2Tensor) {
  constexpr int64_t D = 8, L = 6;
  const auto table = sinusoidal_positions(L, D, Layout::halves, 1, kDouble);
  for (int64_t p = 0; p < L; ++p)
    for (int64_t k = 0; k < D / 2; ++k) {
      const double angle =
          static_cast<double>(p + 1) * std::exp(-static_cast<double>(k) * std::log(10000.0) / (D / 2 - 1));
      EXPECT_NEAR(table[p][k].item<double>(), std::sin(angle), 1e-14);
      EXPECT_NEAR(table[p][D / 2 + k].item<double>(), std::cos(angle), 1e-14);
    }
}

TEST(Sinusoidal, TruncatesToAnOddWidthAndIsFloatByDefault) {
  const auto even = sinusoidal_positions(3, 6), odd = sinusoidal_positions(3, 5);
  EXPECT_EQ(odd.scalar_type(), at::kFloat);
  EXPECT_EQ(odd.sizes(), at::IntArrayRef({3, 5}));
  EXPECT_EQ(even.scalar_type(), at::kFloat);
  EXPECT_THROW(sinusoidal_positions(3, 5, Layout::halves), Error);
  EXPECT_THROW(sinusoidal_positions(3, 0), Error);
}

TEST(Rotary, HasTheGoldenValues) {
  const auto q = numbers({1, 2, -0.5, 0.3}).view({1, 4}), k = numbers({0.4, -1, 0.2, 0.7}).view({1, 4});
  EXPECT_TRUE(close(rotated(q, 5)[0], numbers({2.20151073, -0.3915999, -0.51436888, 0.27463549}), 1e-7));
  const auto dot = [&](int64_t i, int64_t j, Layout layout) {
    return (rotated(q, i, layout) * rotated(k, j, layout)).sum().item<double>();
  };
  EXPECT_NEAR(dot(5, 2, Layout::interleaved), 1.42762433, 1e-7);
  EXPECT_NEAR(dot(13, 10, Layout::interleaved), 1.42762433, 1e-7);
  EXPECT_NEAR(dot(5, 2, Layout::halves), dot(13, 10, Layout::halves), 1e-12);
  EXPECT_GT(std::abs(dot(5, 2, Layout::halves) - 1.42762433), 1e-2);
}

TEST(Rotary, RotatesTheSamePairsInBothLayouts) {
  const auto x = at::randn({2, 3, 6}, kDouble);
  const auto apart = at::tensor(std::vector<int64_t>{0, 2, 4, 1, 3, 5});  // (2i, 2i + 1) -> (i, i + 3)
  EXPECT_TRUE(
      close(rotated(x.index_select(-1, apart), 4, Layout::halves), rotated(x, 4).index_select(-1, apart), 1e-12));
}

TEST(Rotary, RefusesAnOddWidth) {
  EXPECT_THROW(rotated(at::zeros({2, 3}), 0), Error);
  EXPECT_THROW(
      Attention(AttentionOptions{.query_dim = 3, .key_dim = 3, .value_dim = 3, .rotary = {Layout::interleaved, 100}}),
      Error);
}

TEST(Alibi, HasTheGoldenSlopes) {
  EXPECT_TRUE(close(alibi_slopes(8, kDouble),
                    numbers({0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625}), 1e-7));
}

// The slopes for 8 heads, then every second one for 16.
TEST(Alibi, FillsUpFromTwiceThePowerBelow) {
  const auto slopes = alibi_slopes(12, kDouble);
  EXPECT_TRUE(close(slopes.narrow(0, 0, 8), alibi_slopes(8, kDouble), 0));
  EXPECT_TRUE(close(slopes.narrow(0, 8, 4),
                    numbers({std::exp2(-0.5), std::exp2(-1.5), std::exp2(-2.5), std::exp2(-3.5)}), 1e-12));
  EXPECT_TRUE(close(alibi_slopes(1, kDouble), numbers({std::exp2(-8)}), 1e-12));
}

TEST(LearnedPositions, ReadsItsTableAndRefusesPositionsBeyond) {
  LearnedPositions positions(5, 4);
  const auto table = positions->named_parameters()["table"];
  EXPECT_TRUE(same_bits(positions->forward(3, 2), table.narrow(0, 2, 3)));
  EXPECT_THROW(positions->forward(4, 2), Error);
  EXPECT_THROW(positions->forward(1, 5), Error);
  EXPECT_THROW(positions->forward(1, -1), Error);
  EXPECT_THROW(LearnedPositions(0, 4), Error);
  positions->forward(2, 1).sum().backward();
  EXPECT_TRUE(close(table.grad().sum(1), numbers({0, 4, 4, 0, 0}), 0));
  const auto copy = std::dynamic_pointer_cast<LearnedPositionsImpl>(positions->clone());
  EXPECT_TRUE(same_bits(copy->forward(5), table));
}

class RotaryAttention : public ::testing::TestWithParam<std::tuple<Layout, int64_t>> {
 protected:
  Attention make() const {
    at::manual_seed(2);
    const int64_t heads = std::get<1>(GetParam());
    Attention attention(AttentionOptions{.query_dim = 8,
                                         .key_dim = 8,
                                         .value_dim = 8,
                                         .num_heads = heads,
                                         .num_kv_heads = heads > 1 ? 2 : 0,
                                         .rotary = {std::get<0>(GetParam()), 100}});
    attention->to(at::kDouble);
    attention->eval();
    return attention;
  }
  const Tensor x_ = (at::manual_seed(3), at::randn({2, 6, 8}, kDouble));
};
INSTANTIATE_TEST_SUITE_P(Layouts, RotaryAttention,
                         ::testing::Combine(::testing::Values(Layout::interleaved, Layout::halves),
                                            ::testing::Values(1, 4)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param) == Layout::halves ? "halves_" : "interleaved_") +
                                  std::to_string(std::get<1>(test.param));
                         });

TEST_P(RotaryAttention, DependsOnDistancesAlone) {
  auto attention = make();
  Call call;
  call.mask.keep = at::ones({2, 1, 6}, at::kBool);
  const auto here = attention->forward(x_, x_, x_, call).context;
  // Two masked positions at the beginning shift everything by two.
  const auto moved = at::constant_pad_nd(x_, {0, 0, 2, 0});
  call.mask.keep = at::constant_pad_nd(call.mask.keep, {2, 0});
  const auto there = attention->forward(moved, moved, moved, call).context;
  EXPECT_TRUE(close(there.narrow(1, 2, 6), here, 1e-12));
  const auto order = at::tensor(std::vector<int64_t>{1, 0, 2, 3, 4, 5});
  const auto swapped = x_.index_select(1, order);
  const auto other = attention->forward(swapped, swapped, swapped).context.index_select(1, order);
  EXPECT_GT(largest(other - here), 1e-4);
}

TEST_P(RotaryAttention, RotatesAQueryByItsPosition) {
  auto attention = make();
  Call call;
  call.mask.causal = Causal::top_left;
  const auto whole = attention->forward(x_, x_, x_, call).context;
  call.mask.first_query = 4;
  EXPECT_TRUE(close(attention->forward(x_.narrow(1, 4, 2), x_, x_, call).context, whole.narrow(1, 4, 2), 1e-12));
}

TEST_P(RotaryAttention, GivesTheSameFromAMemoryThatGrew) {
  auto attention = make();
  Call call;
  call.mask.causal = Causal::top_left;
  const auto whole = attention->forward(x_, x_, x_, call).context;
  for (const bool grad : {true, false}) {
    const at::AutoGradMode mode(grad);
    Memory memory;
    for (const auto& [first, n] : {std::pair{0, 2}, {2, 1}, {3, 3}}) {
      const auto some = x_.narrow(1, first, n);
      memory = attention->append(memory, some, some);
      Call last;
      last.mask.causal = Causal::bottom_right;
      EXPECT_TRUE(close(attention->forward(some, memory, last).context, whole.narrow(1, first, n), 1e-12));
    }
  }
}

TEST(HeadDim, ProjectsASingleHeadAndAddsItsBiases) {
  Attention attention(
      AttentionOptions{.query_dim = 3, .key_dim = 4, .value_dim = 5, .num_heads = 1, .head_dim = 6, .bias = true});
  attention->to(at::kDouble);
  const at::NoGradGuard no_grad;
  for (auto& parameter : attention->parameters()) parameter.normal_();
  const auto p = attention->named();
  const auto q = at::randn({2, 3, 3}, kDouble), k = at::randn({2, 4, 4}, kDouble), v = at::randn({2, 4, 5}, kDouble);
  const auto projected = [&](const Tensor& x, const std::string& name) {
    return at::linear(x, p["heads." + name], p["heads." + name + "_bias"]);
  };
  const auto weights =
      (projected(q, "query").matmul(projected(k, "keys").transpose(1, 2)) / std::sqrt(6.0)).softmax(-1);
  EXPECT_TRUE(
      close(attention->forward(q, k, v).context, projected(weights.matmul(projected(v, "values")), "out"), 1e-12));
  EXPECT_TRUE(
      close(attention->forward(q, attention->prepare(k, v)).context, attention->forward(q, k, v).context, 1e-12));
  EXPECT_THROW(Attention(AttentionOptions{.query_dim = 3, .key_dim = 4, .value_dim = 5, .bias = true}), Error);
}

// The survey's equation (38): each head may have all features.
TEST(HeadDim, MayEqualTheWidthOfTheInput) {
  Attention attention(AttentionOptions{.query_dim = 4, .key_dim = 4, .value_dim = 4, .num_heads = 2, .head_dim = 4});
  attention->to(at::kDouble);
  const auto p = attention->named();
  EXPECT_EQ(p["heads.query"].sizes(), at::IntArrayRef({8, 4}));
  EXPECT_EQ(p["heads.out"].sizes(), at::IntArrayRef({4, 8}));
  const auto x = at::randn({2, 3, 4}, kDouble);
  Tensor expected = at::zeros({2, 3, 4}, kDouble);
  for (int64_t h = 0; h < 2; ++h) {
    const auto own = [&](const std::string& name) { return at::linear(x, p["heads." + name].narrow(0, 4 * h, 4)); };
    const auto weights = (own("query").matmul(own("keys").transpose(1, 2)) / 2).softmax(-1);
    expected = expected + at::linear(weights.matmul(own("values")), p["heads.out"].narrow(1, 4 * h, 4));
  }
  EXPECT_TRUE(close(attention->forward(x, x, x).context, expected, 1e-12));
  EXPECT_THROW(Attention(AttentionOptions{
                   .query_dim = 4, .key_dim = 4, .value_dim = 4, .hidden_dim = 6, .num_heads = 2, .head_dim = 4}),
               Error);
}

TEST(Rotary, RefusesWrongShapes) {
  EXPECT_THROW(rotated(at::zeros({4}), 0), Error);
  EXPECT_THROW(rotated({}, 0), Error);
  EXPECT_THROW(rotated(at::zeros({2, 3}), 0), Error);
}

}  // namespace
}  // namespace heed::testing
