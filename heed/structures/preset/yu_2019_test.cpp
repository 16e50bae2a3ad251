// Modular co-attention.

#include "heed/structures/testing_plain.h"

namespace heed::testing {
namespace {

/// Image regions of width 4, words of width 6.
std::shared_ptr<Structure> modular(const std::string& spec = "modular_co_attention") {
  return stirred(spec, {.features = {4, 6}});
}

/// LayerNorm(x + MultiHead(x, at)).
Tensor plain_look(const Plain& p, const std::string& name, const Tensor& x, const Tensor& at) {
  return p.norm(x + p.under(name).heads(2, x, at), name + "_norm");
}
/// LayerNorm(x + W_2 relu(W_1 x + b_1) + b_2).
Tensor plain_feed(const Plain& p, const std::string& name, const Tensor& x) {
  const auto inner = at::relu(p.linear(x, name + "_feed_in", name + "_feed_in_bias"));
  return p.norm(x + p.linear(inner, name + "_feed_out", name + "_feed_out_bias"), name + "_feed_norm");
}
/// W sum_i softmax(u . relu(W x_i + b)) x_i.
Tensor plain_pool(const Plain& p, const std::string& name, const Tensor& x) {
  const auto hidden = at::relu(p.linear(x, name + ".score.from_keys", name + ".score.bias"));
  return p[name + "_out"].matmul(plain_read(hidden.matmul(p[name + ".score.query"][0]), x));
}

TEST(ModularCoAttention, IsItsFormula) {
  for (const int64_t layers : {1, 3}) {
    const auto made = modular("modular_co_attention(num_layers=" + std::to_string(layers) + ")");
    const Features picture = random_features(5, 4), question = random_features(3, 6);
    const Plain p{*made};
    Tensor x = picture.rows[0], y = question.rows[0];
    for (int64_t i = 1; i <= layers; ++i) {
      const auto name = "question_" + std::to_string(i);
      y = plain_feed(p, name, plain_look(p, name, y, y));
    }
    for (int64_t i = 1; i <= layers; ++i) {
      const auto n = "_" + std::to_string(i);
      x = plain_look(p, "picture" + n, x, x);
      x = plain_feed(p, "guided" + n, plain_look(p, "guided" + n, x, y));
    }
    const auto expected = p.norm(plain_pool(p, "pool_picture", x) + plain_pool(p, "pool_question", y), "context_norm");
    const auto out = made->forward({.features = {picture, question}});
    EXPECT_EQ(out.context.sizes(), (std::vector<int64_t>{1, 1, 4})) << layers;
    EXPECT_TRUE(close(out.context[0][0], expected)) << layers;
  }
}

TEST(ModularCoAttention, GuidesThePictureByTheQuestionAndNotTheQuestionByThePicture) {
  const auto made = modular();
  const Features question = random_features(3, 6), other = random_features(3, 6), picture = random_features(5, 4);
  const auto steps = [&](const Features& x, const Features& y) { return made->forward({.features = {x, y}}); };
  const auto one = steps(picture, question), elsewhere = steps(random_features(5, 4), question),
             asked = steps(picture, other);
  EXPECT_TRUE(same_bits(elsewhere.step("question_2").context, one.step("question_2").context));
  EXPECT_TRUE(same_bits(asked.step("picture_1").context, one.step("picture_1").context));
  EXPECT_FALSE(close(asked.step("guided_1").context, one.step("guided_1").context, 1e-3));
}

// If guidance adds nothing, the norms of the image layers still apply.
TEST(ModularCoAttention, ReadsThePictureUnguidedWithoutAQuestion) {
  const auto out = modular()->forward({.features = {random_features(5, 4), random_features(0, 6)}});
  EXPECT_EQ(largest(out.step("guided_1").context), 0);
  EXPECT_EQ(largest(out.step("pool_question").context), 0);
  EXPECT_GT(largest(out.step("pool_picture").context), 0);
  EXPECT_TRUE(out.context.isfinite().all().item<bool>());
}

TEST(ModularCoAttention, DoesNotMindTheOrderOfRegions) {
  const auto made = modular();
  const Features picture = random_features(5, 4), question = random_features(3, 6);
  const auto forth = made->forward({.features = {picture, question}}).context;
  EXPECT_TRUE(close(made->forward({.features = {{picture.rows.flip(1)}, question}}).context, forth));
}

TEST(ModularCoAttention, HasAsManyHeadsAsTold) {
  const auto heads = [](const std::shared_ptr<Structure>& made) {
    const StructureInput given{.features = {random_features(2, 4), random_features(2, 4)},
                               .call = {.outputs = {.weights = true}}};
    return made->forward(given).step("guided_1").weights.size(1);
  };
  EXPECT_EQ(heads(stirred("modular_co_attention", {.features = {4}})), 2);
  EXPECT_EQ(heads(stirred("modular_co_attention(num_heads=1)", {.features = {4}})), 1);
  EXPECT_EQ(heads(stirred("modular_co_attention", {.features = {4}, .num_heads = 4})), 4);
}

TEST(ModularCoAttention, RefusesWhatDoesNotFit) {
  for (const std::string options :
       {"num_layers=0", "num_heads=0", "num_heads=4", "depth=2"})  // 6 does not split into 4
    EXPECT_THROW(structure("modular_co_attention(" + options + ")", {.features = {4, 6}}), Error) << options;
}

}  // namespace
}  // namespace heed::testing
