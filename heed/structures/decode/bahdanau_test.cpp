// Bahdanau's decoder compared with its formulas, and with padding compared with itself.

#include "heed/structures/decode/bahdanau.h"

#include <torch/nn/functional.h>

#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

constexpr int64_t kEmbedding = 3, kState = 4, kSource = 5, kOut = 2;

DecoderOptions bahdanau_options() {
  DecoderOptions o;
  o.embedding_dim = kEmbedding;
  o.state_dim = kState;
  o.source_dim = kSource;
  o.out_dim = kOut;
  return o;
}

BahdanauDecoder made(const DecoderOptions& options) {
  at::manual_seed(8);
  BahdanauDecoder decoder(options);
  decoder->to(at::kDouble);
  decoder->eval();
  const at::NoGradGuard no_grad;
  for (auto& parameter : decoder->parameters()) parameter.add_(at::randn_like(parameter), 0.3);
  return decoder;
}

Features some_source() {
  const auto keep = at::tensor(std::vector<int64_t>{1, 1, 1, 1, 0, 1, 1, 0}).view({2, 4}).to(at::kBool);
  return {at::randn({2, 4, kSource}, kDouble).masked_fill(keep.logical_not().unsqueeze(-1), std::nan("")), keep};
}

Tensor gru(const torch::OrderedDict<std::string, Tensor>& p, const Tensor& x, const Tensor& s) {
  const auto from_x = at::linear(x, p["cell.gru.weight_ih"], p["cell.gru.bias_ih"]).chunk(3, 1);
  const auto from_s = at::linear(s, p["cell.gru.weight_hh"], p["cell.gru.bias_hh"]).chunk(3, 1);
  const auto r = (from_x[0] + from_s[0]).sigmoid(), z = (from_x[1] + from_s[1]).sigmoid();
  return (1 - z) * (from_x[2] + r * from_s[2]).tanh() + z * s;
}

// The query is the previous state; the updated state would give other numbers.
TEST(BahdanauDecoder, AttendsWithThePreviousState) {
  auto decoder = made(bahdanau_options());
  const auto p = decoder->named_parameters();
  const auto source = at::randn({2, 4, kSource}, kDouble), y = at::randn({2, 2, kEmbedding}, kDouble);
  const auto context = [&](const Tensor& query) {
    const std::string name = "glimpse.attention.score.";
    const auto inner = at::linear(query, p[name + "from_query"], p[name + "bias"]).unsqueeze(1) +
                       at::linear(source, p[name + "from_keys"]);
    const auto weights = at::linear(inner.tanh(), p[name + "to_scores"]).softmax(1);  // [B, L, 1]
    return (weights * source).sum(1);
  };
  auto s = at::linear(source.mean(1), p["glimpse.start.weight"], p["glimpse.start.bias"]).tanh();
  std::vector<Tensor> outputs, contexts;
  for (int64_t i = 0; i < 2; ++i) {
    const auto c = context(s);
    s = gru(p, at::cat({y.select(1, i), c}, 1), s);
    contexts.push_back(c);
    outputs.push_back(at::linear(at::cat({s, y.select(1, i), c}, 1), p["readout.weight"], p["readout.bias"]).tanh());
  }
  const auto found = decoder->forward({y, {}}, {source, {}});
  EXPECT_TRUE(close(found.features.rows, at::stack(outputs, 1), 1e-12));
  EXPECT_TRUE(close(found.attended.context, at::stack(contexts, 1), 1e-12));
  EXPECT_GT(largest(context(s) - contexts[1]), 1e-3);
}

// The parameters have the same names whoever made the attention; a copy has its own.
TEST(BahdanauDecoder, AttendsWithTheAttentionThatItIsGiven) {
  const auto attention = std::make_shared<SourceAttention>(
      SourceAttentionOptions{.query_dim = kState, .source_dim = kSource, .mechanism = "general + sparsemax"});
  BahdanauDecoder given(bahdanau_options(), attention);
  auto same = bahdanau_options();
  same.mechanism = "general + sparsemax";
  BahdanauDecoder own(same);
  const auto names = [](const BahdanauDecoder& decoder) { return decoder->named_parameters().keys(); };
  EXPECT_EQ(names(given), names(own));
  const auto weights = [](torch::nn::Module& decoder) {
    return decoder.named_parameters()["glimpse.attention.score.from_query"];
  };
  EXPECT_TRUE(weights(*given).is_same(attention->named_parameters()["attention.score.from_query"]));
  const Features source{at::randn({2, 4, kSource}), {}}, targets{at::randn({2, 3, kEmbedding}), {}};
  const auto expected = given->forward(targets, source).features.rows;
  const auto copy = std::dynamic_pointer_cast<BahdanauDecoderImpl>(given->clone());
  EXPECT_FALSE(weights(*copy).is_same(weights(*given)));
  {
    const at::NoGradGuard no_grad;
    weights(*given).add_(1);
  }
  EXPECT_GT(largest(given->forward(targets, source).features.rows - expected), 1e-4);
  EXPECT_TRUE(same_bits(copy->forward(targets, source).features.rows, expected));
}

TEST(BahdanauDecoder, RefusesAnAttentionOfOtherWidths) {
  const auto attention = std::make_shared<SourceAttention>(
      SourceAttentionOptions{.query_dim = kState + 1, .source_dim = kSource, .mechanism = "additive + softmax"});
  EXPECT_THROW(BahdanauDecoder(bahdanau_options(), attention), Error);
}

TEST(BahdanauDecoder, ReadsOutAsTold) {
  const auto source = at::randn({1, 4, kSource}, kDouble), y = at::randn({1, kEmbedding}, kDouble);
  for (const bool previous : {false, true})
    for (const Readout readout : {Readout::tanh, Readout::maxout, Readout::linear}) {
      auto o = bahdanau_options();
      o.readout = readout;
      o.reads_previous_state = previous;
      auto decoder = made(o);
      const auto p = decoder->named_parameters();
      const auto state = decoder->start({source, {}});
      const auto stepped = decoder->step(y, state);
      const auto& s = previous ? state.hidden : stepped.state.hidden;
      const auto mixed =
          at::linear(at::cat({s, y, stepped.attended.context.squeeze(1)}, 1), p["readout.weight"], p["readout.bias"]);
      const auto expected = readout == Readout::tanh ? mixed.tanh()
                            : readout == Readout::linear
                                ? mixed
                                : at::maximum(mixed.slice(1, 0, 4, 2), mixed.slice(1, 1, 4, 2));
      EXPECT_TRUE(close(stepped.output, expected, 1e-12));
    }
}

// Xu et al., 2015: beta = sigmoid(w . s + b), z = beta c, and the LSTM gets z.
TEST(BahdanauDecoder, GatesItsContext) {
  auto o = bahdanau_options();
  o.context_gate = true;
  o.cell = Cell::lstm;
  o.readout = Readout::linear;
  auto decoder = made(o);
  const auto p = decoder->named_parameters();
  const Features source{at::randn({2, 4, kSource}, kDouble), {}};
  const auto y = at::randn({2, kEmbedding}, kDouble);
  const auto state = decoder->start(source);
  const auto stepped = decoder->step(y, state);
  const auto beta = at::linear(state.hidden, p["glimpse.gate.weight"], p["glimpse.gate.bias"]).sigmoid();  // [B, 1]
  const auto z = beta * stepped.attended.context.squeeze(1);
  const auto cell = at::lstm_cell(at::cat({y, z}, 1), {state.hidden, state.cell}, p["cell.lstm.weight_ih"],
                                  p["cell.lstm.weight_hh"], p["cell.lstm.bias_ih"], p["cell.lstm.bias_hh"]);
  EXPECT_TRUE(close(stepped.state.hidden, std::get<0>(cell), 1e-12));
  EXPECT_TRUE(close(stepped.state.cell, std::get<1>(cell), 1e-12));
  EXPECT_TRUE(close(stepped.output,
                    at::linear(at::cat({std::get<0>(cell), y, z}, 1), p["readout.weight"], p["readout.bias"]), 1e-12));
}

// As in the paper: s_0 = tanh(W_s g_1), g_1 the backward state at the first word.
TEST(BahdanauDecoder, StartsFromWhatItIsGiven) {
  auto o = bahdanau_options();
  o.source_dim = 6;
  o.start_dim = 3;
  auto decoder = made(o);
  Recurrent encoder(RecurrentOptions{.in_dim = 2, .out_dim = 6});
  encoder->to(at::kDouble);
  const auto encoded = encoder->encode({at::randn({2, 4, 2}, kDouble), {}});
  const auto backward = encoded.last.narrow(1, 3, 3);
  EXPECT_TRUE(close(backward, encoded.features.rows.select(1, 0).narrow(1, 3, 3), 1e-14));
  const auto p = decoder->named_parameters();
  EXPECT_TRUE(close(decoder->start(encoded.features, backward).hidden,
                    at::linear(backward, p["glimpse.start.weight"], p["glimpse.start.bias"]).tanh(), 1e-12));
  EXPECT_THROW(decoder->start(encoded.features), Error);  // the mean of the source is 6 wide
}

TEST(BahdanauDecoder, CarriesItsStateOverPadding) {
  for (const Cell cell : {Cell::gru, Cell::lstm}) {
    auto o = bahdanau_options();
    o.cell = cell;
    auto decoder = made(o);
    const auto source = some_source();
    const auto keep = at::tensor(std::vector<int64_t>{0, 1, 0, 1, 1, 1, 1, 0}).view({2, 4}).to(at::kBool);
    const auto y = at::randn({2, 4, kEmbedding}, kDouble).masked_fill(keep.logical_not().unsqueeze(-1), std::nan(""));
    Call call;
    call.outputs.weights = call.outputs.lse = call.outputs.entropy = call.outputs.column_mass = true;
    const auto found = decoder->forward({y, keep}, source, call);
    const auto real = at::tensor(std::vector<int64_t>{1, 3});
    const Features row{source.rows.narrow(0, 0, 1), source.keep.narrow(0, 0, 1)};
    const auto alone = decoder->forward({y.narrow(0, 0, 1).index_select(1, real), {}}, row, call);
    EXPECT_TRUE(close(found.features.rows.narrow(0, 0, 1).index_select(1, real), alone.features.rows, 1e-12));
    EXPECT_TRUE(close(found.attended.weights.narrow(0, 0, 1).index_select(1, real), alone.attended.weights, 1e-12));
    EXPECT_TRUE(close(found.attended.column_mass.narrow(0, 0, 1), alone.attended.column_mass, 1e-12));
    EXPECT_TRUE(close(found.attended.column_mass, found.attended.weights.sum(1), 1e-12));
    EXPECT_EQ(largest(found.features.rows.masked_select(keep.logical_not().unsqueeze(-1))), 0);
    EXPECT_EQ(largest(found.attended.weights.masked_select(keep.logical_not().unsqueeze(-1))), 0);
    EXPECT_TRUE(found.attended.lse.masked_select(keep.logical_not()).eq(-INFINITY).all().item<bool>());
  }
}

TEST(BahdanauDecoder, ContinuesFromSelectedBatchElements) {
  for (const char* mechanism : {"additive + softmax", "cosine(2, learned) + local_p(2)"}) {
    auto o = bahdanau_options();
    o.mechanism = mechanism;
    o.state_dim = kSource;
    auto decoder = made(o);
    const auto source = some_source();
    const auto y = at::randn({2, 2, kEmbedding}, kDouble);
    auto state = decoder->step(y.select(1, 0), decoder->start(source)).state;
    const auto rows = at::tensor(std::vector<int64_t>{1, 0, 1});
    const auto chosen = decoder->step(y.select(1, 1).index_select(0, rows), state.select(rows));
    EXPECT_TRUE(close(chosen.output, decoder->step(y.select(1, 1), state).output.index_select(0, rows), 1e-12));
    EXPECT_EQ(chosen.state.targets, 2);
  }
}

TEST(BahdanauDecoder, AcceptsEmptyAxes) {
  for (const int64_t heads : {1, 2}) {
    auto o = bahdanau_options();
    o.num_heads = heads;
    auto decoder = made(o);
    Call call;
    call.outputs.weights = true;
    const auto no_targets = decoder->forward({at::zeros({2, 0, kEmbedding}, kDouble), {}}, some_source(), call);
    EXPECT_EQ(no_targets.features.rows.sizes(), at::IntArrayRef({2, 0, kOut}));
    EXPECT_EQ(no_targets.attended.weights.sizes(),
              heads == 1 ? at::IntArrayRef({2, 0, 4}) : at::IntArrayRef({2, 2, 0, 4}));
    const Features empty{at::zeros({2, 0, kSource}, kDouble), {}};
    const auto no_source = decoder->forward({at::randn({2, 3, kEmbedding}, kDouble), {}}, empty, call);
    EXPECT_TRUE(no_source.features.rows.isfinite().all().item<bool>());
    EXPECT_EQ(no_source.attended.weights.numel(), 0);
  }
}

TEST(BahdanauDecoder, DrawsNewNumbersAtEveryStep) {
  auto o = bahdanau_options();
  o.mechanism = "dot + hard";
  o.state_dim = kSource;
  auto decoder = made(o);
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : decoder->parameters()) parameter.zero_();  // all scores are 0: every key is equally likely
  }
  Call call;
  call.noise.sample = true;
  call.noise.seed = 5;
  call.outputs.weights = true;
  const Features source{at::randn({1, 64, kSource}, kDouble), {}}, targets{at::zeros({1, 4, kEmbedding}, kDouble), {}};
  const auto drawn = decoder->forward(targets, source, call).attended.weights[0].argmax(1);
  EXPECT_GT(std::get<0>(at::_unique(drawn)).numel(), 2);
  EXPECT_TRUE(same_bits(drawn, decoder->forward(targets, source, call).attended.weights[0].argmax(1)));
}

// A policy selects keys once for a source, so that there is one draw to reward. This also holds without a seed: all
// targets then use the seed of the first one.
TEST(BahdanauDecoder, LetsAPolicyDrawOnceForASource) {
  for (const uint64_t seed : {0, 5}) {
    auto o = bahdanau_options();
    o.mechanism = "additive + reinforced";
    auto decoder = made(o);
    decoder->train();
    Call call;
    call.noise.seed = seed;
    call.outputs.weights = true;
    const Features source{at::randn({2, 64, kSource}, kDouble), {}},
        targets{at::randn({2, 4, kEmbedding}, kDouble), {}};
    const auto whole = decoder->forward(targets, source, call).attended;
    const auto read = whole.weights.gt(0);  // [B, T, L]
    EXPECT_TRUE(at::equal(read, whole.selected.gt(0).unsqueeze(1).expand_as(read)));

    auto state = decoder->start(source);
    std::vector<Attended> steps;
    for (int64_t t = 0; t < 4; ++t) {
      auto stepped = decoder->step(targets.rows.select(1, t), state, call);
      state = stepped.state;
      steps.push_back(stepped.attended);
      EXPECT_TRUE(same_bits(steps[0].selected, stepped.attended.selected));
      EXPECT_TRUE(same_bits(steps[0].log_probability, stepped.attended.log_probability));
    }
    EXPECT_GT(largest(steps[0].weights - steps[3].weights), 1e-6);
    // Another source gives another draw, even with a seed: a seed is for a whole training run, not for one batch.
    EXPECT_FALSE(at::equal(steps[0].selected, whole.selected));
    EXPECT_FALSE(at::equal(decoder->forward(targets, source, call).attended.selected, whole.selected));
  }
}

TEST(BahdanauDecoder, RewardsTheOneDrawOfAPolicy) {
  auto o = bahdanau_options();
  o.mechanism = "additive + reinforced";
  auto decoder = made(o);
  Call call;
  call.noise.sample = true;
  call.noise.seed = 5;
  const Features source{at::randn({2, 6, kSource}, kDouble), {}}, targets{at::randn({2, 3, kEmbedding}, kDouble), {}};
  const auto whole = decoder->forward(targets, source, call).attended;
  auto state = decoder->step(targets.rows.select(1, 0), decoder->start(source), call).state;
  const auto second = decoder->step(targets.rows.select(1, 1), state, call).attended;
  EXPECT_TRUE(same_bits(whole.selected, second.selected));
  EXPECT_TRUE(same_bits(whole.log_probability, second.log_probability));
  auto policy = decoder->named_parameters()["glimpse.attention.align.to_logit"];
  EXPECT_TRUE(close(gradients(whole.log_probability.sum(), {policy})[0],
                    gradients(second.log_probability.sum(), {policy})[0], 1e-12));
}

TEST(BahdanauDecoder, RefusesKeepsTypesAndStatesThatDoNotFit) {
  auto decoder = made(bahdanau_options());
  const Features source{at::randn({2, 4, kSource}, kDouble), {}};
  const auto y = at::randn({2, 3, kEmbedding}, kDouble);
  EXPECT_THROW(decoder->forward({y, at::ones({2, 3}, at::kLong)}, source), Error);
  EXPECT_THROW(decoder->forward({y, at::ones({2, 2}, at::kBool)}, source), Error);
  EXPECT_THROW(decoder->forward({y.to(at::kFloat), {}}, source), Error);
  EXPECT_THROW(decoder->start({source.rows, at::ones({2, 3}, at::kBool)}), Error);
  EXPECT_THROW(decoder->start({source.rows, at::ones({4}, at::kBool)}), Error);
  EXPECT_THROW(decoder->start({source.rows, at::ones({2, 4}, at::kFloat)}), Error);
  EXPECT_THROW(decoder->start({source.rows.to(at::kFloat), {}}), Error);
  EXPECT_THROW(decoder->start(source, at::zeros({2, kSource})), Error);
  EXPECT_THROW(decoder->step(y.select(1, 0), {}), Error);

  const auto state = decoder->start(source);
  for (const auto& hidden : {at::zeros({2, kState + 1}, kDouble), at::zeros({3, kState}, kDouble),
                             at::zeros({kState}, kDouble), at::zeros({2, kState}), Tensor()}) {
    auto set = state;
    set.hidden = hidden;
    EXPECT_THROW(decoder->step(y.select(1, 0), set), Error) << shape_of(hidden);
  }
  for (const auto& rows : {at::tensor(std::vector<int64_t>{0, 2}), at::tensor(std::vector<int64_t>{-1}),
                           at::zeros({1}, at::kInt), at::zeros({1, 1}, at::kLong), at::zeros({1}), Tensor()})
    EXPECT_THROW(state.select(rows), Error) << shape_of(rows);
  EXPECT_EQ(state.select(at::zeros({0}, at::kLong)).hidden.size(0), 0);
}

// Attention supports float and double; prepare() must refuse other types.
TEST(BahdanauDecoder, RefusesShortFloats) {
  auto decoder = made(bahdanau_options());
  decoder->to(at::kBFloat16);
  EXPECT_THROW(decoder->start({at::zeros({2, 4, kSource}, at::kBFloat16), {}}), Error);
}

TEST(BahdanauDecoder, CopiesItself) {
  auto decoder = made(bahdanau_options());
  const auto source = some_source();
  const Features targets{at::randn({2, 3, kEmbedding}, kDouble), {}};
  const auto expected = decoder->forward(targets, source).features.rows;
  const auto copy = std::dynamic_pointer_cast<BahdanauDecoderImpl>(decoder->clone());
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : decoder->parameters()) parameter.fill_(0.1);
  }
  EXPECT_TRUE(same_bits(copy->forward(targets, source).features.rows, expected));
}

TEST(BahdanauDecoder, RefusesWhatDoesNotFit) {
  auto decoder = made(bahdanau_options());
  const auto source = some_source();
  EXPECT_THROW(BahdanauDecoder(DecoderOptions{}), Error);
  EXPECT_THROW(decoder->start({at::zeros({2, 4, 3}, kDouble), {}}), Error);
  EXPECT_THROW(decoder->step(at::zeros({2, kEmbedding + 1}, kDouble), decoder->start(source)), Error);
  EXPECT_THROW(decoder->step(at::zeros({2, kEmbedding}, kDouble), DecoderState{}), Error);
  EXPECT_THROW(decoder->forward({at::zeros({3, 2, kEmbedding}, kDouble), {}}, source), Error);
  Call call;
  call.outputs.weights = true;
  call.outputs.rows = {0};
  EXPECT_THROW(decoder->forward({at::zeros({2, 2, kEmbedding}, kDouble), {}}, source, call), Error);
}

}  // namespace
}  // namespace heed::testing
