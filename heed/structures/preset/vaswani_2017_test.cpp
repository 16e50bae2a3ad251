// The Transformer.

#include "heed/structures/testing_plain.h"

namespace heed::testing {
namespace {

/// A source of width 6, a target of width 4.
std::shared_ptr<Structure> transformer(const std::string& spec) {
  return stirred(spec, {.features = {6, 4}});
}

/// One sublayer f with its norm: x + f(norm(x)), or norm(x + f(x)).
template <typename Sublayer>
Tensor plain_sublayer(const Plain& p, const std::string& name, bool pre, const Tensor& x, const Sublayer& f) {
  return pre ? x + f(p.norm(x, name)) : p.norm(x + f(x), name);
}

/// One layer: of the encoder if source is undefined, otherwise of the decoder.
Tensor plain_layer(const Plain& p, bool pre, Tensor x, const Tensor& source) {
  const bool decodes = source.defined();
  x = plain_sublayer(p, "self_norm", pre, x, [&](const Tensor& h) { return p.under("self").heads(2, h, h, decodes); });
  if (decodes)
    x = plain_sublayer(p, "cross_norm", pre, x, [&](const Tensor& h) { return p.under("cross").heads(2, h, source); });
  return plain_sublayer(p, "feed_forward_norm", pre, x, [&](const Tensor& h) {
    const auto inner = at::relu(p.linear(h, "feed_forward.in.weight", "feed_forward.in.bias"));
    return p.linear(inner, "feed_forward.out.weight", "feed_forward.out.bias");
  });
}

Tensor plain_stack(const Plain& p, int64_t layers, bool pre, const Tensor& spec, const Tensor& source = {}) {
  Tensor x = spec + plain_positions(spec.size(0), spec.size(1));
  for (int64_t i = 0; i < layers; ++i) x = plain_layer(p.under("layers." + std::to_string(i)), pre, x, source);
  return pre ? p.norm(x, "norm") : x;
}

TEST(Transformer, IsItsFormula) {
  for (const bool pre : {false, true}) {
    const int64_t layers = pre ? 1 : 2;
    const auto made = transformer(pre ? "transformer(num_layers=1, norm=pre)" : "transformer");
    const Features source = random_features(5, 6), target = random_features(4, 4);
    const Plain p{*made};
    const auto read = plain_stack(p.under("encoder.encoder"), layers, pre, source.rows[0]);
    const auto expected = plain_stack(p.under("decoder.decoder"), layers, pre, target.rows[0], read);
    EXPECT_TRUE(close(made->forward({.features = {source, target}}).context[0], expected)) << pre;
  }
}

TEST(Transformer, DoesNotLookAtTargetsAhead) {
  const auto made = transformer("transformer");
  const Features source = random_features(5, 6), target = random_features(4, 4);
  auto other = target.rows.clone();
  other[0][2] += 1;
  const auto one = made->forward({.features = {source, target}}).context[0],
             two = made->forward({.features = {source, {other}}}).context[0];
  EXPECT_TRUE(close(two.narrow(0, 0, 2), one.narrow(0, 0, 2), 1e-14));
  EXPECT_FALSE(close(two[2], one[2], 1e-3));
  EXPECT_FALSE(close(two[3], one[3], 1e-3));
}

TEST(Transformer, LooksAtTheWholeSourceFromEveryTarget) {
  const auto made = transformer("transformer");
  const Features source = random_features(5, 6), target = random_features(4, 4);
  auto other = source.rows.clone();
  other[0][4] += 1;  // the last word, which changes the others too
  const auto one = made->forward({.features = {source, target}}).context[0],
             two = made->forward({.features = {{other}, target}}).context[0];
  for (int64_t t = 0; t < 4; ++t) EXPECT_FALSE(close(two[t], one[t], 1e-4)) << t;
}

TEST(Transformer, TellsEqualWordsApartByTheirPositions) {
  const auto made = transformer("transformer");
  const Features source = random_features(5, 6);
  const auto same = at::randn({1, 1, 4}, kDouble).expand({1, 3, 4});
  const auto out = made->forward({.features = {source, {same}}}).context[0];
  EXPECT_FALSE(close(out[1], out[0], 1e-3));
  EXPECT_FALSE(close(out[2], out[1], 1e-3));
  EXPECT_FALSE(close(made->forward({.features = {{source.rows.flip(1)}, {same}}}).context[0], out, 1e-3));
}

// Attention over an empty source gives 0, whether its length is 0 or all of it is padding.
TEST(Transformer, DecodesAloneWhereThereIsNoSource) {
  const auto made = transformer("transformer");
  const Features target = random_features(3, 4), nothing = random_features(0, 6);
  const auto alone =
      plain_stack(Plain{*made}.under("decoder.decoder"), 2, /*pre=*/false, target.rows[0], nothing.rows[0]);
  const Features padding{at::full({1, 2, 6}, NAN, kDouble), at::zeros({1, 2}, at::kBool)};
  for (const auto& source : {nothing, padding})
    EXPECT_TRUE(close(made->forward({.features = {source, target}}).context[0], alone));
}

TEST(Transformer, RefusesWhatDoesNotFit) {
  for (const std::string options : {"num_layers=0", "num_heads=0", "num_heads=4", "norm=between", "depth=2"})
    EXPECT_THROW(structure("transformer(" + options + ")", {.features = {6, 4}}), Error) << options;
  StructureInput causal{.features = {random_features(2, 6), random_features(2, 4)}};
  causal.call.mask.causal = Causal::top_left;  // the decoder is causal by itself
  EXPECT_THROW(transformer("transformer")->forward(causal), Error);
}

}  // namespace
}  // namespace heed::testing
