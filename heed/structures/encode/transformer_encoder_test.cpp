// The Transformer encoder compared with torch's own layer and with its formula.

#include "heed/structures/encode/transformer_encoder.h"

#include <cstdio>

#include <torch/nn/modules/transformerlayer.h>

#include "heed/attention/testing.h"
#include "heed/torch_support/safetensors.h"

namespace heed::testing {
namespace {

TransformerOptions small_encoder() {
  TransformerOptions o;
  o.dim = 8;
  o.num_heads = 2;
  o.num_layers = 2;
  o.feed_forward_dim = 12;
  return o;
}

template <typename Module>
Module ready(Module module) {
  module->to(at::kDouble);
  module->eval();
  const at::NoGradGuard no_grad;  // biases and norms start at 0 and 1, which would hide a missing one
  for (auto& parameter : module->parameters()) parameter.add_(at::randn_like(parameter), 0.2);
  return module;
}

Features some_features(double padding = 0) {
  const auto keep = at::tensor(std::vector<int64_t>{1, 0, 1, 1, 0, 1, 1, 1, 1, 1}).view({2, 5}).to(at::kBool);
  return {at::randn({2, 5, 8}, kDouble).masked_fill(keep.logical_not().unsqueeze(-1), padding), keep};
}

/// Copies the weights of Heed's layer into torch's.
void copy_layer(torch::nn::TransformerEncoderLayer& torchs, EncoderLayer& ours) {
  const auto mine = ours->named_parameters();
  auto theirs = torchs->named_parameters();
  const at::NoGradGuard no_grad;
  const auto stacked = [&](const std::string& end) {
    return at::cat({mine["self.heads.query" + end], mine["self.heads.keys" + end], mine["self.heads.values" + end]});
  };
  theirs["self_attn.in_proj_weight"].copy_(stacked(""));
  theirs["self_attn.in_proj_bias"].copy_(stacked("_bias"));
  theirs["self_attn.out_proj.weight"].copy_(mine["self.heads.out"]);
  theirs["self_attn.out_proj.bias"].copy_(mine["self.heads.out_bias"]);
  for (const auto& [their, our] : {std::pair{"linear1", "feed_forward.in"},
                                   {"linear2", "feed_forward.out"},
                                   {"norm1", "self_norm"},
                                   {"norm2", "feed_forward_norm"}})
    for (const char* end : {".weight", ".bias"}) theirs[their + std::string(end)].copy_(mine[our + std::string(end)]);
}

class ActivatedEncoder : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Activations, ActivatedEncoder, ::testing::Values("relu", "gelu"), test_name);

TEST_P(ActivatedEncoder, IsTorchsOwnLayerWithItsWeights) {
  at::manual_seed(1);
  auto o = small_encoder();
  o.norm = Norm::post;
  o.activation = GetParam();
  auto ours = ready(EncoderLayer(o));
  auto options = torch::nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(12).dropout(0);
  if (GetParam() == "gelu") options.activation(torch::kGELU);
  auto torchs = ready(torch::nn::TransformerEncoderLayer(options));
  copy_layer(torchs, ours);
  const auto f = some_features();
  const auto expected = torchs->forward(f.rows.transpose(0, 1), {}, f.keep.logical_not()).transpose(0, 1);
  EXPECT_TRUE(close(ours->forward(f).features.rows, f.with_rows(expected).without_padding().rows, 1e-10));
}

TEST(TransformerEncoder, NormsBeforeAndOnceMoreAtTheEnd) {
  at::manual_seed(2);
  auto o = small_encoder();
  o.num_layers = 1;
  o.epsilon = 0.1;
  auto encoder = ready(TransformerEncoder(o));
  const auto p = encoder->named_parameters();
  const auto normed = [&](const Tensor& x, const std::string& name) {
    const auto centered = x - x.mean(-1, true);
    return centered / (centered.square().mean(-1, true) + 0.1).sqrt() * p[name + ".weight"] + p[name + ".bias"];
  };
  const auto linear = [&](const Tensor& x, const std::string& w, const std::string& b) {
    return at::linear(x, p[w], p[b]);
  };
  const auto heads = [&](const Tensor& x, const std::string& which) {
    const std::string name = "layers.0.self.heads." + which;
    return linear(x, name, name + "_bias").view({2, 5, 2, 4}).transpose(1, 2);
  };
  auto x = at::randn({2, 5, 8}, kDouble);
  const auto found = encoder->forward({x, {}}).rows;
  const auto h = normed(x, "layers.0.self_norm");
  const auto a = (heads(h, "query").matmul(heads(h, "keys").transpose(-1, -2)) / 2).softmax(-1);
  const auto c = a.matmul(heads(h, "values")).transpose(1, 2).flatten(2);
  x = x + linear(c, "layers.0.self.heads.out", "layers.0.self.heads.out_bias");
  const auto inner = linear(normed(x, "layers.0.feed_forward_norm"), "layers.0.feed_forward.in.weight",
                            "layers.0.feed_forward.in.bias");
  x = x + linear(inner.relu(), "layers.0.feed_forward.out.weight", "layers.0.feed_forward.out.bias");
  EXPECT_TRUE(close(found, normed(x, "norm"), 1e-10));
}

TEST(TransformerEncoder, GivesZerosAtPaddingAndNeverSeesIt) {
  auto encoder = ready(TransformerEncoder(small_encoder()));
  at::manual_seed(3);
  const auto clean = some_features();
  const auto expected = encoder->forward(clean);
  const auto dirty = clean.with_rows(clean.rows.masked_fill(clean.keep.logical_not().unsqueeze(-1), std::nan("")));
  const auto found = encoder->forward(dirty);
  EXPECT_TRUE(same_bits(found.rows, expected.rows));
  EXPECT_EQ(largest(found.rows.masked_select(found.keep.logical_not().unsqueeze(-1))), 0);
  EXPECT_GT(largest(found.rows), 0);
}

TEST(TransformerEncoder, ReturnsTheWeightsOfEveryHeadOfItsLayers) {
  auto encoder = ready(TransformerEncoder(small_encoder()));
  Call call;
  call.outputs.weights = true;
  const auto f = some_features();
  const auto encoded = encoder->encode(f, call);
  ASSERT_EQ(encoded.steps.size(), 2u);
  for (const char* name : {"layers.0.self", "layers.1.self"}) {
    const auto& weights = encoded.step(name).weights;
    EXPECT_EQ(weights.sizes(), at::IntArrayRef({2, 2, 5, 5}));
    EXPECT_TRUE(close(weights.sum(-1), at::ones({2, 2, 5}, kDouble), 1e-12));
    EXPECT_EQ(largest(weights.masked_select(f.keep.logical_not().view({2, 1, 1, 5}))), 0);
  }
  EXPECT_THROW(encoded.step("layers.2.self"), Error);
}

TEST(TransformerEncoder, DependsOnPositionsOnlyWhereItIsTold) {
  const auto order = at::tensor(std::vector<int64_t>{4, 0, 2, 1, 3});
  for (const std::string positions : {"none", "rotary", "alibi"}) {
    at::manual_seed(4);
    auto o = small_encoder();
    o.alibi = positions == "alibi";
    if (positions == "rotary") o.rotary.base = kPositionBase;
    auto encoder = ready(TransformerEncoder(o));
    const Features f{at::randn({1, 5, 8}, kDouble), {}}, permuted{f.rows.index_select(1, order), {}};
    const auto apart = largest(encoder->forward(permuted).rows - encoder->forward(f).rows.index_select(1, order));
    EXPECT_EQ(apart < 1e-10, positions == "none") << positions;
  }
}

TEST(TransformerEncoder, IsCausalWhereTheCallSaysSo) {
  auto encoder = ready(TransformerEncoder(small_encoder()));
  Call call;
  call.mask.causal = Causal::top_left;
  auto x = at::randn({1, 5, 8}, kDouble);
  const auto before = encoder->forward({x, {}}, call).rows;
  x.narrow(1, 3, 2).normal_();
  const auto after = encoder->forward({x, {}}, call).rows;
  EXPECT_TRUE(close(after.narrow(1, 0, 3), before.narrow(1, 0, 3), 1e-12));
  EXPECT_GT(largest(after.narrow(1, 3, 2) - before.narrow(1, 3, 2)), 1e-3);
}

TEST(TransformerEncoder, DropsInTrainingOnly) {
  auto o = small_encoder();
  o.dropout = 0.5;
  auto encoder = ready(TransformerEncoder(o));
  const auto f = some_features();
  EXPECT_TRUE(same_bits(encoder->forward(f).rows, encoder->forward(f).rows));
  encoder->train();
  EXPECT_FALSE(same_bits(encoder->forward(f).rows, encoder->forward(f).rows));
}

TEST(TransformerEncoder, CopiesAndSavesItself) {
  auto encoder = ready(TransformerEncoder(small_encoder()));
  const auto f = some_features();
  const auto expected = encoder->forward(f).rows;
  const auto copy = std::dynamic_pointer_cast<TransformerEncoderImpl>(encoder->clone());
  const std::string path = ::testing::TempDir() + "heed_encoder_" + std::to_string(::getpid()) + ".safetensors";
  save_parameters(*encoder, path);
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : encoder->parameters()) parameter.fill_(0.1);
  }
  EXPECT_TRUE(same_bits(copy->forward(f).rows, expected));
  load_parameters(*encoder, path);
  std::remove(path.c_str());
  EXPECT_TRUE(same_bits(encoder->forward(f).rows, expected));
}

TEST(TransformerEncoder, RefusesWhatDoesNotFit) {
  auto o = small_encoder();
  o.num_heads = 3;
  EXPECT_THROW(TransformerEncoder{o}, Error);
  o = small_encoder();
  o.activation = "square";
  EXPECT_THROW(TransformerEncoder{o}, Error);
  TransformerEncoder encoder(small_encoder());
  EXPECT_THROW(encoder->forward({at::zeros({2, 5, 7}), {}}), Error);
  EXPECT_THROW(encoder->forward({at::zeros({2, 5, 8}), at::ones({2, 4}, at::kBool)}), Error);
  EXPECT_THROW(encoder->forward({at::zeros({2, 5, 8}), at::ones({2, 5}, at::kLong)}), Error);
  EXPECT_THROW(encoder->forward({at::zeros({2, 5, 8}, kDouble), {}}), Error);
}

TEST(TransformerDropout, IsThatOfTheSublayersUnlessItIsGiven) {
  auto o = completed(small_encoder());
  o.dropout = 0.5;
  const auto weights = [&] { return transformer_attention(o, o.dim, o.mechanism, {})->options().dropout; };
  const auto x = at::randn({2, 50, 8});
  const auto drops_inside = [&] {
    FeedForward layer(o);
    const auto in_training = layer(x);
    layer->eval();
    return !in_training.equal(layer(x));
  };
  EXPECT_EQ(weights(), 0.5);
  EXPECT_TRUE(drops_inside());
  o.attention_dropout = 0.25;
  o.activation_dropout = 0;
  EXPECT_EQ(weights(), 0.25);
  EXPECT_FALSE(drops_inside());
  o.activation_dropout = 1;
  EXPECT_THROW(completed(o), Error);
}

}  // namespace
}  // namespace heed::testing
