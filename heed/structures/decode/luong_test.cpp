// Luong's decoder compared with its formulas, and with padding compared with itself.

#include "heed/structures/decode/luong.h"

#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

DecoderOptions luong_options() {
  DecoderOptions o;
  o.embedding_dim = 3;
  o.state_dim = 4;
  o.source_dim = 5;
  o.out_dim = 2;
  o.cell = Cell::lstm;
  return o;
}

LuongDecoder luong(const DecoderOptions& options) {
  at::manual_seed(9);
  LuongDecoder decoder(options);
  decoder->to(at::kDouble);
  decoder->eval();
  const at::NoGradGuard no_grad;
  for (auto& parameter : decoder->parameters()) parameter.add_(at::randn_like(parameter), 0.3);
  return decoder;
}

// The query is the updated state; the previous one, as in Bahdanau's decoder, would give other numbers.
TEST(LuongDecoder, AttendsWithTheUpdatedState) {
  for (const bool feeding : {true, false}) {
    auto o = luong_options();
    o.input_feeding = feeding;
    auto decoder = luong(o);
    const auto p = decoder->named_parameters();
    const auto source = at::randn({2, 4, 5}, kDouble), y = at::randn({2, 3, 3}, kDouble);
    const auto context = [&](const Tensor& query) {
      const auto asked = at::linear(query, p["glimpse.attention.score.from_query"]);  // W q, [B, source]
      return (source.matmul(asked.unsqueeze(2)).softmax(1) * source).sum(1);
    };
    auto h = at::linear(source.mean(1), p["glimpse.start.weight"], p["glimpse.start.bias"]).tanh();
    auto cell = at::linear(source.mean(1), p["glimpse.start_cell.weight"], p["glimpse.start_cell.bias"]);
    auto fed = at::zeros({2, 2}, kDouble);
    std::vector<Tensor> outputs;
    Tensor before, after;
    for (int64_t t = 0; t < 3; ++t) {
      before = context(h);
      const auto in = feeding ? at::cat({y.select(1, t), fed}, 1) : y.select(1, t);
      std::tie(h, cell) = at::lstm_cell(in, {h, cell}, p["cell.lstm.weight_ih"], p["cell.lstm.weight_hh"],
                                        p["cell.lstm.bias_ih"], p["cell.lstm.bias_hh"]);
      after = context(h);
      fed = at::linear(at::cat({after, h}, 1), p["mix.weight"]).tanh();
      outputs.push_back(fed);
    }
    const auto found = decoder->forward({y, {}}, {source, {}});
    EXPECT_TRUE(close(found.features.rows, at::stack(outputs, 1), 1e-12));
    EXPECT_TRUE(close(found.attended.context.select(1, 2), after, 1e-12));
    EXPECT_GT(largest(before - after), 1e-3);
  }
}

// local-m attends to a window around the position of the target.
TEST(LuongDecoder, GoesAlongTheSourceWithLocalAttention) {
  auto o = luong_options();
  o.mechanism = "general + local_m(1)";
  auto decoder = luong(o);
  Call call;
  call.outputs.weights = true;
  const auto weights = decoder->forward({at::randn({1, 4, 3}, kDouble), {}}, {at::randn({1, 6, 5}, kDouble), {}}, call)
                           .attended.weights[0];
  for (int64_t t = 0; t < 4; ++t)
    for (int64_t j = 0; j < 6; ++j) EXPECT_EQ(weights[t][j].item<double>() > 0, std::abs(t - j) <= 1) << t << " " << j;
}

TEST(LuongDecoder, GatesItsContextByTheUpdatedState) {
  auto o = luong_options();
  o.context_gate = true;
  auto decoder = luong(o);
  const auto p = decoder->named_parameters();
  const auto stepped = decoder->step(at::randn({2, 3}, kDouble), decoder->start({at::randn({2, 4, 5}, kDouble), {}}));
  const auto& h = stepped.state.hidden;
  const auto beta = at::linear(h, p["glimpse.gate.weight"], p["glimpse.gate.bias"]).sigmoid();
  const auto mixed = at::linear(at::cat({beta * stepped.attended.context.squeeze(1), h}, 1), p["mix.weight"]);
  EXPECT_TRUE(close(stepped.output, mixed.tanh(), 1e-12));
}

TEST(LuongDecoder, CarriesWhatItFeedsOverPadding) {
  auto decoder = luong(luong_options());
  const Features source{at::randn({1, 4, 5}, kDouble), {}};
  const auto keep = at::tensor(std::vector<int64_t>{1, 0, 0, 1}).view({1, 4}).to(at::kBool);
  const auto y = at::randn({1, 4, 3}, kDouble).masked_fill(keep.logical_not().unsqueeze(-1), std::nan(""));
  const auto real = at::tensor(std::vector<int64_t>{0, 3});
  EXPECT_TRUE(close(decoder->forward({y, keep}, source).features.rows.index_select(1, real),
                    decoder->forward({y.index_select(1, real), {}}, source).features.rows, 1e-12));
}

TEST(LuongDecoder, StartsWhereAnEncoderEnded) {
  auto decoder = luong(luong_options());
  const Features source{at::randn({2, 4, 5}, kDouble), {}};
  auto state = decoder->start(source);
  state.hidden = at::randn({2, 4}, kDouble);
  state.cell = at::randn({2, 4}, kDouble);
  const auto p = decoder->named_parameters();
  const auto y = at::randn({2, 3}, kDouble);
  const auto expected =
      at::lstm_cell(at::cat({y, at::zeros({2, 2}, kDouble)}, 1), {state.hidden, state.cell}, p["cell.lstm.weight_ih"],
                    p["cell.lstm.weight_hh"], p["cell.lstm.bias_ih"], p["cell.lstm.bias_hh"]);
  EXPECT_TRUE(close(decoder->step(y, state).state.hidden, std::get<0>(expected), 1e-12));
}

TEST(LuongDecoder, ContinuesFromSelectedBatchElements) {
  auto decoder = luong(luong_options());
  const Features source{at::randn({2, 4, 5}, kDouble), {}};
  const auto y = at::randn({2, 2, 3}, kDouble);
  const auto state = decoder->step(y.select(1, 0), decoder->start(source)).state;
  const auto rows = at::tensor(std::vector<int64_t>{1, 1, 0});
  EXPECT_TRUE(close(decoder->step(y.select(1, 1).index_select(0, rows), state.select(rows)).output,
                    decoder->step(y.select(1, 1), state).output.index_select(0, rows), 1e-12));
}

TEST(LuongDecoder, CopiesItself) {
  auto decoder = luong(luong_options());
  const Features source{at::randn({2, 4, 5}, kDouble), {}}, targets{at::randn({2, 3, 3}, kDouble), {}};
  const auto expected = decoder->forward(targets, source).features.rows;
  const auto copy = std::dynamic_pointer_cast<LuongDecoderImpl>(decoder->clone());
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : decoder->parameters()) parameter.fill_(0.1);
  }
  EXPECT_TRUE(same_bits(copy->forward(targets, source).features.rows, expected));
}

TEST(LuongDecoder, RefusesAStateThatDoesNotFit) {
  auto decoder = luong(luong_options());
  const auto y = at::randn({2, 3}, kDouble);
  const auto state = decoder->start({at::randn({2, 4, 5}, kDouble), {}});
  for (const auto part : {&DecoderState::hidden, &DecoderState::cell, &DecoderState::fed})
    for (const auto& set : {at::zeros({2, 7}, kDouble), at::zeros({3, 4}, kDouble), Tensor()}) {
      auto other = state;
      other.*part = set;
      EXPECT_THROW(decoder->step(y, other), Error) << shape_of(set);
    }
  auto other = state;
  other.hidden = at::zeros({3, 4}, kDouble);
  EXPECT_THROW(other.select(at::zeros({1}, at::kLong)), Error);
  auto o = luong_options();
  o.input_feeding = false;
  auto alone = luong(o);
  EXPECT_NO_THROW(alone->step(y, alone->start({at::randn({2, 4, 5}, kDouble), {}})));  // needs no fed
}

}  // namespace
}  // namespace heed::testing
