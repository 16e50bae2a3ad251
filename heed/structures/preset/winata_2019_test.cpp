// Meta-embeddings, read by self-attention.

#include "heed/structures/testing_plain.h"

namespace heed::testing {
namespace {

/// Embeddings of widths 3 and 5 are combined into width 4.
std::shared_ptr<Structure> meta_encoder(const std::string& spec, int64_t heads = 1) {
  return stirred(spec, {.features = {3, 5}, .hidden_dim = 4, .num_heads = heads});
}

TEST(MetaEmbeddingEncoder, IsItsFormula) {
  const auto made = meta_encoder("meta_embedding_encoder(num_layers=2, num_heads=2)");
  const Features one = random_features(6, 3), other = random_features(6, 5);
  const Plain p{*made};
  const auto embed = p.under("embed");
  const auto t1 = embed.linear(one.rows[0], "project_1", "bias_1"),
             t2 = embed.linear(other.rows[0], "project_2", "bias_2");
  const auto score = [&](const Tensor& t) { return t.matmul(embed["to_scores"].t()) + embed["score_bias"]; };
  const auto a = at::softmax(at::cat({score(t1), score(t2)}, -1), -1);  // [L, 2]
  auto x = a.narrow(1, 0, 1) * t1 + a.narrow(1, 1, 1) * t2;
  for (const std::string layer : {"read.layer_1", "read.layer_2"})
    x = p.under(layer).norm(x + p.under(layer + ".attend").heads(2, x, x), "norm_scale", "norm_shift");
  const auto out = made->forward({.features = {one, other}});
  EXPECT_EQ(made->width(), 4);
  EXPECT_TRUE(close(out.context[0], x));
}

TEST(MetaEmbeddingEncoder, LeavesOrderToTheCaller) {
  const auto made = meta_encoder("meta_embedding_encoder");
  const Features one = random_features(5, 3), other = random_features(5, 5);
  const auto forth = made->forward({.features = {one, other}}).context;
  const auto back = made->forward({.features = {{one.rows.flip(1)}, {other.rows.flip(1)}}}).context;
  EXPECT_TRUE(close(back, forth.flip(1)));
}

TEST(MetaEmbeddingEncoder, DoesNotReadWordsWithoutAnEmbedding) {
  const auto made = meta_encoder("meta_embedding_encoder");
  Features one = random_features(3, 3), other = random_features(3, 5);
  one.keep = at::tensor({1, 0, 0}).to(at::kBool).view({1, 3});
  other.keep = at::tensor({0, 0, 1}).to(at::kBool).view({1, 3});
  const auto out = made->forward({.features = {one, other}, .call = {.outputs = {.weights = true}}});
  EXPECT_EQ(largest(out.context[0][1]), 0);
  EXPECT_TRUE(same_bits(out.keep, at::tensor({1, 0, 1}).to(at::kBool).view({1, 3})));
  EXPECT_EQ(largest(out.step("read/layer_1/attend").weights.select(-1, 1)), 0);
  EXPECT_TRUE(close(out.step("embed/choose").weights.view({3, 2}), numbers({1, 0, 0, 0, 0, 1}, {3, 2})));
}

TEST(MetaEmbeddingEncoder, TakesAsManyEmbeddingsAsTold) {
  EXPECT_EQ(structure("meta_embedding_encoder(inputs=3)", {.features = {4}})->takes().features.size(), 3);
  EXPECT_EQ(structure("meta_embedding_encoder", {.features = {4, 2, 6}})->takes().features.size(), 3);
  EXPECT_EQ(structure("meta_embedding_encoder", {.features = {4}})->takes().features.size(), 2);
}

TEST(MetaEmbeddingEncoder, HasAsManyHeadsAsTold) {
  const auto heads = [](const std::shared_ptr<Structure>& made) {
    const StructureInput given{.features = {random_features(2, 3), random_features(2, 5)},
                               .call = {.outputs = {.weights = true}}};
    return made->forward(given).step("read/layer_1/attend").weights.size(1);
  };
  EXPECT_EQ(heads(meta_encoder("meta_embedding_encoder")), 2);
  EXPECT_EQ(heads(meta_encoder("meta_embedding_encoder(num_heads=4)")), 4);
  EXPECT_EQ(heads(meta_encoder("meta_embedding_encoder", 4)), 4);
}

TEST(MetaEmbeddingEncoder, RefusesWhatDoesNotFit) {
  EXPECT_THROW(meta_encoder("meta_embedding_encoder(num_layers=0)"), Error);
  EXPECT_THROW(meta_encoder("meta_embedding_encoder(num_heads=0)"), Error);
  EXPECT_THROW(meta_encoder("meta_embedding_encoder(inputs=3)"), Error);  // widths for two
  const StructureInput uneven{.features = {random_features(2, 3), random_features(3, 5)}};
  EXPECT_THROW(meta_encoder("meta_embedding_encoder")->forward(uneven), Error);
}

}  // namespace
}  // namespace heed::testing
