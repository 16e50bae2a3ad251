// Positional self-attention with co-attention.

#include "heed/structures/testing_plain.h"

namespace heed::testing {
namespace {

std::shared_ptr<Structure> positional(int64_t heads = 1) {
  return stirred("positional_co_attention", {.features = {4}, .num_heads = heads});
}

/// LayerNorm(F + Att(F, F)), F = f + positions.
Tensor plain_reading(const Plain& p, const Tensor& f, int64_t heads) {
  const auto positions = f + plain_positions(f.size(0), f.size(1));
  const auto by = [&](const std::string& name) { return p.linear(positions, name, ""); };
  const auto read = heads > 1 ? p.under("attend").heads(heads, positions, positions)
                              : plain_read(by("to_query").matmul(by("to_keys").t()) / 2, by("to_values"));  // sqrt(4)
  return p.norm(positions + read, "norm_scale", "norm_shift");
}

TEST(PositionalCoAttention, IsItsFormula) {
  for (const int64_t heads : {1, 2}) {
    const auto made = positional(heads);
    const Features video = random_features(5, 4), question = random_features(3, 4);
    const Plain p{*made};
    const auto v = plain_reading(p.under("video"), video.rows[0], heads),
               q = plain_reading(p.under("question"), question.rows[0], heads);
    auto s = at::empty({5, 3}, kDouble);
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t j = 0; j < 3; ++j) s[i][j] = p["affinity"].dot(at::cat({v[i], q[j], v[i] * q[j]}));
    const auto a = plain_read(s, q), b = plain_read(s, plain_read(s.t(), v));
    EXPECT_TRUE(close(made->forward({.features = {video, question}}).context[0], at::cat({v, a, v * a, v * b}, -1)))
        << heads;
  }
}

TEST(PositionalCoAttention, ReadsFramesAndWordsInOrder) {
  const auto made = positional();
  const Features video = random_features(5, 4), question = random_features(3, 4);
  const auto forth = made->forward({.features = {video, question}}).context;
  EXPECT_FALSE(close(made->forward({.features = {{video.rows.flip(1)}, question}}).context.flip(1), forth, 1e-3));
  EXPECT_FALSE(close(made->forward({.features = {video, {question.rows.flip(1)}}}).context, forth, 1e-3));
}

TEST(PositionalCoAttention, KeepsTheVideoAloneWhereThereIsNoQuestion) {
  const auto made = positional();
  const Features video = random_features(5, 4);
  const auto out = made->forward({.features = {video, random_features(0, 4)}}).context[0];
  EXPECT_TRUE(close(out.narrow(-1, 0, 4), plain_reading(Plain{*made}.under("video"), video.rows[0], 1)));
  EXPECT_EQ(largest(out.narrow(-1, 4, 12)), 0);
}

TEST(PositionalCoAttention, GivesNothingAtPadding) {
  const auto made = positional();
  Features video = random_features(4, 4);
  video.keep = at::tensor({1, 1, 1, 0}).to(at::kBool).view({1, 4});
  const Features question = random_features(3, 4);
  const auto out = made->forward({.features = {video, question}});
  EXPECT_EQ(largest(out.context[0][3]), 0);
  EXPECT_TRUE(same_bits(out.keep, video.keep));
  const auto shorter = made->forward({.features = {{video.rows.narrow(1, 0, 3)}, question}}).context;
  EXPECT_TRUE(close(out.context.narrow(1, 0, 3), shorter));
}

TEST(PositionalCoAttention, PutsItsAlignmentEverywhere) {
  const auto made = stirred("positional_co_attention", {.features = {4}, .mechanism = "scaled_dot + hard"});
  const StructureInput given{.features = {random_features(5, 4), random_features(3, 4)},
                             .call = {.outputs = {.weights = true}}};
  const auto out = made->forward(given);
  EXPECT_EQ(out.steps.size(), 4);
  for (const auto& [name, attended] : out.steps)
    EXPECT_TRUE(at::logical_or(attended.weights == 0, attended.weights == 1).all().item<bool>()) << name;
}

TEST(PositionalCoAttention, RequiresInputsOfOneWidth) {
  EXPECT_THROW(structure("positional_co_attention", {.features = {4, 6}}), Error);
  EXPECT_THROW(structure("positional_co_attention(num_layers=2)", {.features = {4}}), Error);
}

}  // namespace
}  // namespace heed::testing
