// The Transformer decoder compared with torch's own layer, and with a cache compared with itself.

#include "heed/structures/decode/transformer_decoder.h"

#include <cstdio>

#include <torch/nn/modules/transformerlayer.h>

#include "heed/attention/testing.h"
#include "heed/torch_support/safetensors.h"

namespace heed::testing {
namespace {

TransformerOptions small_decoder() {
  TransformerOptions o;
  o.dim = 8;
  o.num_heads = 2;
  o.num_layers = 2;
  o.feed_forward_dim = 12;
  return o;
}

TransformerDecoder ready_decoder(const TransformerOptions& options) {
  at::manual_seed(6);
  TransformerDecoder decoder(options);
  decoder->to(at::kDouble);
  decoder->eval();
  const at::NoGradGuard no_grad;  // biases and norms start at 0 and 1, which would hide a missing one
  for (auto& parameter : decoder->parameters()) parameter.add_(at::randn_like(parameter), 0.2);
  return decoder;
}

/// Batch element 1 of the source has padding.
Features transformer_source(int64_t width = 8) {
  const auto keep = at::tensor(std::vector<int64_t>{1, 1, 1, 1, 1, 0, 1, 0}).view({2, 4}).to(at::kBool);
  return {at::randn({2, 4, width}, kDouble), keep};
}

TEST(DecoderLayer, IsTorchsOwnWithItsWeights) {
  at::manual_seed(1);
  auto o = small_decoder();
  o.norm = Norm::post;
  DecoderLayer ours(o);
  torch::nn::TransformerDecoderLayer torchs(
      torch::nn::TransformerDecoderLayerOptions(8, 2).dim_feedforward(12).dropout(0));
  ours->to(at::kDouble);
  torchs->to(at::kDouble);
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : ours->parameters()) parameter.add_(at::randn_like(parameter), 0.2);
    const auto mine = ours->named_parameters();
    auto theirs = torchs->named_parameters();
    for (const auto& [their, our] : {std::pair{"self_attn.", "self.heads."}, {"multihead_attn.", "cross.heads."}}) {
      const std::string to = their, from = our;
      const auto stacked = [&, f = from](const std::string& end) {
        return at::cat({mine[f + "query" + end], mine[f + "keys" + end], mine[f + "values" + end]});
      };
      theirs[to + "in_proj_weight"].copy_(stacked(""));
      theirs[to + "in_proj_bias"].copy_(stacked("_bias"));
      theirs[to + "out_proj.weight"].copy_(mine[from + "out"]);
      theirs[to + "out_proj.bias"].copy_(mine[from + "out_bias"]);
    }
    for (const auto& [their, our] : {std::pair{"linear1", "feed_forward.in"},
                                     {"linear2", "feed_forward.out"},
                                     {"norm1", "self_norm"},
                                     {"norm2", "cross_norm"},
                                     {"norm3", "feed_forward_norm"}})
      for (const char* end : {".weight", ".bias"}) theirs[their + std::string(end)].copy_(mine[our + std::string(end)]);
  }
  const auto source = transformer_source();
  const auto x = at::randn({2, 5, 8}, kDouble);
  const auto later = at::full({5, 5}, -INFINITY, kDouble).triu(1);
  const auto expected =
      torchs->forward(x.transpose(0, 1), source.rows.transpose(0, 1), later, {}, {}, source.keep.logical_not());
  EXPECT_TRUE(close(ours->forward({x, {}}, source).features.rows, expected.transpose(0, 1), 1e-10));
}

struct Kind {
  const char* name;
  TransformerOptions options;
};

std::vector<Kind> kinds() {
  const auto with = [](auto change) {
    auto o = small_decoder();
    change(o);
    return o;
  };
  return {{"pre", small_decoder()},
          {"post", with([](auto& o) { o.norm = Norm::post; })},
          {"rotary", with([](auto& o) { o.rotary.base = kPositionBase; })},
          {"rotary_halves", with([](auto& o) {
             o.rotary = {Layout::halves, 100};
           })},
          {"alibi", with([](auto& o) { o.alibi = true; })},
          {"grouped", with([](auto& o) {
             o.num_heads = 4;
             o.num_kv_heads = 2;
           })},
          {"one_head", with([](auto& o) { o.num_heads = 1; })},
          {"wide_source", with([](auto& o) { o.source_dim = 5; })},
          {"no_source", with([](auto& o) { o.cross = false; })},
          {"additive_sparsemax", with([](auto& o) { o.mechanism = "additive + sparsemax"; })},
          {"cosine_entmax", with([](auto& o) { o.mechanism = "cosine(4) + entmax(1.5)"; })},
          {"two_mechanisms", with([](auto& o) { o.cross_mechanism = "general + local_m(1)"; })},
          {"channels", with([](auto& o) { o.mechanism = "additive + softmax, multi"; })}};
}

class EveryDecoder : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    decoder_ = ready_decoder(GetParam().options);
    source_ = GetParam().options.cross ? transformer_source(decoder_->options().source_dim) : Features{};
    x_ = at::randn({2, 7, 8}, kDouble);
  }
  Tensor in_steps(const std::vector<int64_t>& lengths) {
    auto cache = decoder_->start(source_);
    std::vector<Tensor> parts;
    int64_t position = 0;
    for (const int64_t n : lengths) {
      parts.push_back(decoder_->step(x_.narrow(1, position, n), cache));
      position += n;
      EXPECT_EQ(cache.length(), position);
    }
    return at::cat(parts, 1);
  }
  TransformerDecoder decoder_{nullptr};
  Features source_;
  Tensor x_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryDecoder, ::testing::ValuesIn(kinds()),
                         [](const auto& test) { return test.param.name; });

TEST_P(EveryDecoder, GivesTheSameStepByStep) {
  const auto whole = decoder_->forward({x_, {}}, source_).rows;
  for (const bool grad : {true, false}) {
    const at::AutoGradMode mode(grad);
    EXPECT_TRUE(close(in_steps({1, 1, 1, 1, 1, 1, 1}), whole, 1e-10));
    EXPECT_TRUE(close(in_steps({3, 1, 2, 1}), whole, 1e-10));
    EXPECT_TRUE(close(in_steps({7}), whole, 1e-10));
  }
}

TEST_P(EveryDecoder, HasTheSameGradientStepByStep) {
  auto leaves = decoder_->parameters();
  x_.requires_grad_();
  leaves.push_back(x_);
  if (source_.rows.defined()) leaves.push_back(source_.rows.requires_grad_());
  const auto loss = [](const Tensor& rows) { return (rows * waves(rows)).sum(); };
  const auto whole = gradients(loss(decoder_->forward({x_, {}}, source_).rows), leaves);
  const auto steps = gradients(loss(in_steps({2, 1, 3, 1})), leaves);
  for (size_t i = 0; i < leaves.size(); ++i) EXPECT_TRUE(close(steps[i], whole[i], 1e-9)) << i;
}

TEST_P(EveryDecoder, NeverLooksAhead) {
  const auto before = decoder_->forward({x_, {}}, source_).rows;
  x_.narrow(1, 4, 3).normal_();
  const auto after = decoder_->forward({x_, {}}, source_).rows;
  EXPECT_TRUE(close(after.narrow(1, 0, 4), before.narrow(1, 0, 4), 1e-12));
  EXPECT_GT(largest(after - before), 1e-3);
}

TEST_P(EveryDecoder, SkipsPaddingAmongItsTargetsStepByStep) {
  const auto keep =
      at::tensor(std::vector<int64_t>{0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 0}).view({2, 7}).to(at::kBool);
  x_.masked_fill_(keep.logical_not().unsqueeze(-1), std::nan(""));
  const auto whole = decoder_->forward({x_, keep}, source_).rows;
  EXPECT_TRUE(whole.isfinite().all().item<bool>());
  auto cache = decoder_->start(source_);
  std::vector<Tensor> parts;
  for (const auto& [position, n] : {std::pair{0, 3}, {3, 1}, {4, 1}, {5, 2}})
    parts.push_back(
        decoder_->decode_next({x_.narrow(1, position, n), keep.narrow(1, position, n)}, cache).features.rows);
  EXPECT_TRUE(close(at::cat(parts, 1), whole, 1e-10));
}

TEST_P(EveryDecoder, ContinuesFromSelectedBatchElements) {
  const at::NoGradGuard no_grad;
  auto cache = decoder_->start(source_);
  decoder_->step(x_.narrow(1, 0, 3), cache);
  const auto rows = at::tensor(std::vector<int64_t>{1, 0, 1});
  auto chosen = cache.select(rows);
  const auto found = decoder_->step(at::cat({x_, x_}).narrow(0, 0, 3).narrow(1, 3, 1), chosen);
  // The past of batch elements 1, 0 and 1, and the next target of elements 0, 1 and 0.
  const auto past = x_.narrow(1, 0, 3).index_select(0, rows);
  const auto next = x_.narrow(1, 3, 1).index_select(0, 1 - rows);
  Features source = source_;
  if (source.rows.defined()) source = {source_.rows.index_select(0, rows), source_.keep.index_select(0, rows)};
  const auto whole = decoder_->forward({at::cat({past, next}, 1), {}}, source).rows;
  EXPECT_TRUE(close(found, whole.narrow(1, 3, 1), 1e-10));
  EXPECT_EQ(cache.length(), 3);
  EXPECT_TRUE(close(decoder_->step(x_.narrow(1, 3, 1), cache),
                    decoder_->forward({x_, {}}, source_).rows.narrow(1, 3, 1), 1e-10));
}

TEST(TransformerDecoder, SpreadsOneBatchElementOverItsBeams) {
  const at::NoGradGuard no_grad;
  auto decoder = ready_decoder(small_decoder());
  const Features source{at::randn({1, 4, 8}, kDouble), at::tensor({1, 0, 1, 1}).view({1, 4}).to(at::kBool)};
  const auto x = at::randn({1, 3, 8}, kDouble);
  auto cache = decoder->start(source);
  decoder->step(x.narrow(1, 0, 2), cache);
  auto beams = cache.select(at::zeros({3}, at::kLong));
  const auto found = decoder->step(x.narrow(1, 2, 1).expand({3, 1, 8}), beams);
  EXPECT_TRUE(close(found, decoder->forward({x, {}}, source).rows.narrow(1, 2, 1).expand({3, 1, 8}), 1e-10));
}

TEST(TransformerDecoder, ReturnsTheWeightsOfEveryHeadOfItsLayers) {
  auto decoder = ready_decoder(small_decoder());
  const auto source = transformer_source();
  Call call;
  call.outputs.weights = true;
  const auto x = at::randn({2, 3, 8}, kDouble);
  const auto whole = decoder->decode({x, {}}, source, call);
  auto cache = decoder->start(source);
  decoder->step(x.narrow(1, 0, 2), cache);
  const auto last = decoder->decode_next({x.narrow(1, 2, 1), {}}, cache, call);
  for (const char* name : {"layers.0.cross", "layers.1.cross"}) {
    const auto& weights = whole.step(name).weights;
    EXPECT_EQ(weights.sizes(), at::IntArrayRef({2, 2, 3, 4}));
    EXPECT_EQ(largest(weights.masked_select(source.keep.logical_not().view({2, 1, 1, 4}))), 0);
    EXPECT_TRUE(close(last.step(name).weights, weights.narrow(2, 2, 1), 1e-10));
  }
  EXPECT_TRUE(close(last.step("layers.1.self").weights, whole.step("layers.1.self").weights.narrow(2, 2, 1), 1e-10));
}

TEST(TransformerDecoder, StaysFiniteWhereTheSourceIsEmpty) {
  auto decoder = ready_decoder(small_decoder());
  auto source = transformer_source();
  source.keep[0].fill_(false);
  source.rows = source.rows.masked_fill(source.keep.logical_not().unsqueeze(-1), std::nan(""));
  const auto x = at::randn({2, 3, 8}, kDouble);
  const auto whole = decoder->forward({x, {}}, source).rows;
  EXPECT_TRUE(whole.isfinite().all().item<bool>());
  auto cache = decoder->start(source);
  EXPECT_TRUE(close(decoder->step(x, cache), whole, 1e-10));
}

TEST(TransformerDecoder, CopiesAndSavesItself) {
  auto decoder = ready_decoder(small_decoder());
  const auto source = transformer_source();
  const auto x = at::randn({2, 3, 8}, kDouble);
  const auto expected = decoder->forward({x, {}}, source).rows;
  const auto copy = std::dynamic_pointer_cast<TransformerDecoderImpl>(decoder->clone());
  const std::string path = ::testing::TempDir() + "heed_decoder_" + std::to_string(::getpid()) + ".safetensors";
  save_parameters(*decoder, path);
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : decoder->parameters()) parameter.fill_(0.1);
  }
  EXPECT_TRUE(same_bits(copy->forward({x, {}}, source).rows, expected));
  load_parameters(*decoder, path);
  std::remove(path.c_str());
  EXPECT_TRUE(same_bits(decoder->forward({x, {}}, source).rows, expected));
}

// A requested output is refused after the first layer has cached the target, a source after all but the last have.
TEST(TransformerDecoder, GoesOnAfterARefusedStepAsIfThereHadBeenNone) {
  auto decoder = ready_decoder(small_decoder());
  const auto source = transformer_source();
  const auto x = at::randn({2, 4, 8}, kDouble);
  const auto whole = decoder->forward({x, {}}, source).rows;
  for (const bool grad : {true, false}) {
    const at::AutoGradMode mode(grad);
    auto cache = decoder->start(source);
    decoder->step(x.narrow(1, 0, 2), cache);
    Call call;
    call.outputs.weights = true;
    call.outputs.heads = {9};
    EXPECT_THROW(decoder->decode_next({x.narrow(1, 3, 1), {}}, cache, call), Error);
    const auto cross = cache.layers[1].cross;
    cache.layers[1].cross = {};
    EXPECT_THROW(decoder->step(x.narrow(1, 3, 1), cache), Error);
    cache.layers[1].cross = cross;
    for (const auto& layer : cache.layers) EXPECT_EQ(layer.self.length(), 2);
    EXPECT_TRUE(close(decoder->step(x.narrow(1, 2, 2), cache), whole.narrow(1, 2, 2), 1e-10));
  }
}

TEST(DecoderLayer, LeavesItsCacheWhereAStepIsRefused) {
  DecoderLayer layer(small_decoder());
  layer->to(at::kDouble);
  auto cache = layer->start(transformer_source());
  Call call;
  call.outputs.weights = true;
  call.outputs.heads = {9};
  EXPECT_THROW(layer->step({at::randn({2, 1, 8}, kDouble), {}}, cache, call), Error);
  EXPECT_EQ(cache.self.length(), 0);
}

TEST(DecoderCache, RefusesBatchElementsThatDoNotExist) {
  auto decoder = ready_decoder(small_decoder());
  auto cache = decoder->start(transformer_source());
  decoder->step(at::randn({2, 1, 8}, kDouble), cache);
  for (const auto& rows : {at::tensor(std::vector<int64_t>{0, 2}), at::tensor(std::vector<int64_t>{-1}),
                           at::zeros({1}, at::kInt), at::zeros({1, 1}, at::kLong), Tensor()})
    EXPECT_THROW(cache.select(rows), Error) << shape_of(rows);
  auto o = small_decoder();
  o.cross = false;
  EXPECT_EQ(ready_decoder(o)->start().select(at::zeros({3}, at::kLong)).length(), 0);  // the cache is still empty
}

TEST(TransformerDecoder, RefusesWhatDoesNotFit) {
  TransformerDecoder decoder(small_decoder());
  const auto x = at::zeros({2, 3, 8});
  EXPECT_THROW(decoder->forward({x, {}}), Error);
  EXPECT_THROW(decoder->forward({x, {}}, {at::zeros({2, 4, 7}), {}}), Error);
  EXPECT_THROW(decoder->forward({x, {}}, {at::zeros({3, 4, 8}), {}}), Error);
  EXPECT_THROW(decoder->forward({x.narrow(2, 0, 7), {}}, {at::zeros({2, 4, 8}), {}}), Error);
  const Features source{at::zeros({2, 4, 8}), {}};
  EXPECT_THROW(decoder->forward({x.to(at::kDouble), {}}, source), Error);
  EXPECT_THROW(decoder->forward({x, {}}, {source.rows.to(at::kDouble), {}}), Error);
  EXPECT_THROW(decoder->start({source.rows.to(at::kDouble), {}}), Error);
  EXPECT_THROW(decoder->start({source.rows, at::ones({2, 3}, at::kBool)}), Error);
  auto cache = decoder->start(source);
  EXPECT_THROW(decoder->step(x.to(at::kDouble), cache), Error);
  EXPECT_THROW(decoder->decode_next({x, at::ones({2, 3}, at::kLong)}, cache), Error);
  EXPECT_THROW(decoder->decode_next({x, at::ones({2, 2}, at::kBool)}, cache), Error);
  TransformerDecoder brief(small_decoder());
  brief->to(at::kBFloat16);
  EXPECT_THROW(brief->start({at::zeros({2, 4, 8}, at::kBFloat16), {}}), Error);
  DecoderCache none;
  EXPECT_THROW(decoder->step(x, none), Error);
  auto o = small_decoder();
  o.cross = false;
  TransformerDecoder alone(o);
  EXPECT_THROW(alone->forward({x, {}}, {at::zeros({2, 4, 8}), {}}), Error);
}

TransformerOptions decoder_of_two_layers() {
  TransformerOptions o;
  o.dim = 8;
  o.num_heads = 2;
  o.num_layers = 2;
  return o;
}

TEST(FixedDecoderCache, GivesWhatAGrowingOneGives) {
  const at::NoGradGuard no_grad;
  TransformerDecoder decoder(decoder_of_two_layers());
  decoder->eval();
  auto growing = decoder->start({at::randn({3, 5, 8}), {}});
  decoder->step(at::randn({3, 2, 8}), growing);
  auto fixed = decoder->fixed(growing, 4);
  const auto* const memory = fixed.layers[1].self.keys.rows().data_ptr<float>();
  const auto check_step = [&] {
    const auto x = at::randn({growing.layers[0].cross.batch(), 1, 8});
    const auto expected = decoder->step(x, growing);
    EXPECT_TRUE(decoder->decode_next({x, {}}, fixed).features.rows.allclose(expected, 1e-4, 1e-5));
  };
  check_step();
  const auto other = at::tensor({2, 0, 0}, at::kLong);
  growing = growing.reorder(other);
  fixed.reorder(other);
  check_step();
  EXPECT_EQ(fixed.layers[1].self.keys.rows().data_ptr<float>(), memory);
  EXPECT_EQ(fixed.position.item<int64_t>(), 4);
  fixed = decoder->fixed(fixed, 4, 6);
  growing = growing.select(at::tensor({1, 2}, at::kLong));
  fixed = fixed.select(at::tensor({1, 2}, at::kLong));
  check_step();
  check_step();
}

TEST(FixedDecoderCache, IsRefusedWherePositionsAreRead) {
  const at::NoGradGuard no_grad;
  auto rotary = decoder_of_two_layers(), alibi = rotary, local = rotary;
  rotary.rotary.base = kPositionBase;
  alibi.alibi = true;
  local.cross_mechanism = "dot + local_m(2)";
  for (const auto& options : {rotary, alibi, local}) {
    TransformerDecoder decoder(options);
    EXPECT_FALSE(decoder->steps_alike());
    auto cache = decoder->start({at::randn({1, 3, 8}), {}});
    decoder->step(at::randn({1, 1, 8}), cache);
    EXPECT_THROW(decoder->fixed(cache, 4), Error);
  }
}

}  // namespace
}  // namespace heed::testing
