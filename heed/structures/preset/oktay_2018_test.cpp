// Attention gates.

#include "heed/structures/testing_plain.h"

namespace heed::testing {
namespace {

/// Features of width 3, a signal of width 5, hidden width 4.
std::shared_ptr<Structure> gate_of(const std::string& mechanism = "") {
  return stirred("attention_gate", {.features = {3, 5}, .hidden_dim = 4, .mechanism = mechanism});
}

TEST(AttentionGate, IsItsFormula) {
  for (const std::string mechanism : {"additive(relu) + sigmoid, multi", "additive(relu) + sigmoid"}) {
    const auto made = gate_of(mechanism);
    const Plain score = Plain{*made}.under("gate.score");
    const Features x = random_features(6, 3), g = random_features(6, 5);
    const auto hidden =
        at::relu(score.linear(g.rows[0], "from_query", "bias") + score.linear(x.rows[0], "from_keys", ""));
    const auto e = hidden.matmul(score["to_scores"].t()) + made->named_parameters()["bias"];  // [L, 3] or [L, 1]
    EXPECT_EQ(e.size(1), mechanism.find("multi") == std::string::npos ? 1 : 3);
    EXPECT_TRUE(close(made->forward({.features = {x, g}}).context[0], at::sigmoid(e) * x.rows[0])) << mechanism;
  }
}

TEST(AttentionGate, GatesEachPositionIndependently) {
  const auto made = gate_of();
  const Features x = random_features(4, 3), g = random_features(4, 5);
  const auto before = made->forward({.features = {x, g}}).context[0];
  auto other = x.rows.clone();
  other[0][2] += 1;
  const auto after = made->forward({.features = {{other}, g}}).context[0];
  EXPECT_FALSE(close(after[2], before[2], 1e-3));
  for (const int64_t position : {0, 1, 3}) EXPECT_TRUE(close(after[position], before[position], 1e-14)) << position;
}

TEST(AttentionGate, OpensAndClosesWithItsBias) {
  const auto made = gate_of();
  const Features x = random_features(4, 3), g = random_features(4, 5);
  set(*made, "bias", {60});
  EXPECT_TRUE(close(made->forward({.features = {x, g}}).context, x.rows));
  set(*made, "bias", {-60});
  EXPECT_LT(largest(made->forward({.features = {x, g}}).context), 1e-10);
}

// With weights that sum to 1, a single key has weight 1, which is why the paper gates with a sigmoid.
TEST(AttentionGate, LetsEverythingThroughWhereWeightsSumToOne) {
  const Features x = random_features(4, 3), g = random_features(4, 5);
  for (const std::string alignment : {"softmax", "sparsemax"})
    EXPECT_TRUE(close(gate_of("additive + " + alignment)->forward({.features = {x, g}}).context, x.rows)) << alignment;
}

TEST(AttentionGate, GivesNothingAtPadding) {
  Features x = random_features(3, 3);
  x.keep = at::tensor({1, 0, 1}).to(at::kBool).view({1, 3});
  const auto out = gate_of()->forward({.features = {x, random_features(3, 5)}});
  EXPECT_EQ(largest(out.context[0][1]), 0);
  EXPECT_GT(largest(out.context[0][2]), 0);
  EXPECT_TRUE(same_bits(out.keep, x.keep));
}

// Attention sees each position as a batch element; those of batch element 1 start at index 6.
TEST(AttentionGate, DrawsTheSameForABatchElementAloneAsTogether) {
  const auto made = gate_of();
  const auto x = at::randn({2, 6, 3}, kDouble), g = at::randn({2, 6, 5}, kDouble);
  StructureInput given{.features = {{x}, {g}}};
  given.call.noise = {.sample = true, .dropout = .5, .seed = 11, .stream = 3};
  const auto together = made->forward(given).context;
  given.features = {{x.narrow(0, 1, 1)}, {g.narrow(0, 1, 1)}};
  given.call.noise.first_row = 1;
  EXPECT_TRUE(close(made->forward(given).context[0], together[1]));
  const auto dropped = together.eq(0).sum().item<int64_t>();
  EXPECT_GT(dropped, 0);
  EXPECT_LT(dropped, together.numel());
}

TEST(AttentionGate, RequiresASignalForEachPosition) {
  EXPECT_THROW(gate_of()->forward({.features = {random_features(4, 3), random_features(2, 5)}}), Error);
  EXPECT_THROW(structure("attention_gate(open)", {.features = {3}}), Error);
  EXPECT_THROW(structure("attention_gate", {.features = {3}, .mechanism = "sigmoid"}), Error);
}

}  // namespace
}  // namespace heed::testing
