// Layers and decoders in a NoiseScope: the result of a batch element does not depend on the others or their lengths.

#include "heed/torch_support/noise_scope.h"

#include <functional>

#include <gtest/gtest.h>

#include "heed/backend/dropout.h"
#include "heed/structures/decode/bahdanau.h"
#include "heed/structures/encode/recurrent.h"
#include "heed/structures/encode/transformer_encoder.h"

namespace heed {
namespace {

constexpr int64_t kRows = 4, kLength = 6, kWidth = 8;

/// Lengths 6, 4, 3, 2: the second half of the batch needs fewer positions.
Features batch(int64_t from, int64_t rows, bool padded = true) {
  at::manual_seed(3);
  const auto all = at::randn({kRows, kLength, kWidth});
  const auto lengths = at::tensor({6, 4, 3, 2}, at::kLong);
  const int64_t longest = padded ? lengths[from].item<int64_t>() : 2;
  const auto keep = at::arange(longest).unsqueeze(0) < lengths.unsqueeze(1);  // [B, L]
  const auto cut = [&](const Tensor& x) { return x.narrow(0, from, rows).narrow(1, 0, longest); };
  if (!padded) return {cut(all), {}};
  return {cut(all), keep.narrow(0, from, rows)};
}

using Layer = std::function<Tensor(const Features&)>;

/// The layer followed by dropout, which must not depend on the padded length of the batch.
Tensor in_scope(const Layer& layer, uint64_t step, int64_t from, int64_t rows, bool padded = true) {
  const NoiseScope scope(11, step, from);
  return heed::dropout(layer(batch(from, rows, padded)), 0.5, true);
}

void expect_rows_alone(const Layer& layer, bool padded = true) {
  const auto whole = in_scope(layer, 5, 0, kRows, padded);
  EXPECT_TRUE(whole.equal(in_scope(layer, 5, 0, kRows, padded)));
  EXPECT_FALSE(whole.equal(in_scope(layer, 6, 0, kRows, padded)));
  for (const int64_t from : {0, 2}) {
    const auto half = in_scope(layer, 5, from, 2, padded);
    EXPECT_TRUE(at::allclose(half, whole.narrow(0, from, 2).narrow(1, 0, half.size(1)), 1e-5, 1e-6)) << from;
  }
}

TEST(ScopedTransformer, TreatsBatchElementsIndependently) {
  TransformerOptions options;
  options.dim = kWidth;
  options.num_heads = 2;
  options.num_layers = 2;
  options.feed_forward_dim = 16;
  options.dropout = 0.3;
  TransformerEncoder encoder(options);
  expect_rows_alone([&](const Features& x) { return encoder->forward(x).rows; });
}

class ScopedRecurrent : public ::testing::TestWithParam<Cell> {};

TEST_P(ScopedRecurrent, TreatsBatchElementsIndependently) {
  Recurrent encoder(
      RecurrentOptions{.in_dim = kWidth, .out_dim = 6, .num_layers = 3, .cell = GetParam(), .dropout = 0.3});
  expect_rows_alone([&](const Features& x) { return encoder->forward(x).rows; });
  expect_rows_alone([&](const Features& x) { return encoder->forward(x).rows; }, /*padded=*/false);
  expect_rows_alone([&](const Features& x) { return encoder->last(x).unsqueeze(1); });
}

// The rate is so small that nothing is dropped: layer by layer must then equal torch's own module.
TEST_P(ScopedRecurrent, PassesLayerByLayerWhatTorchPassesAtOnce) {
  Recurrent encoder(
      RecurrentOptions{.in_dim = kWidth, .out_dim = 6, .num_layers = 3, .cell = GetParam(), .dropout = 1e-9});
  for (const bool padded : {true, false}) {
    const auto x = batch(0, kRows, padded);
    encoder->eval();
    const auto whole = encoder->encode(x);
    encoder->train();
    const NoiseScope scope(11, 5);
    const auto layered = encoder->encode(x);
    EXPECT_TRUE(at::allclose(layered.features.rows, whole.features.rows, 1e-5, 1e-6));
    EXPECT_TRUE(at::allclose(layered.last, whole.last, 1e-5, 1e-6));
    layered.last.sum().backward();
    for (const auto& item : encoder->named_parameters()) EXPECT_TRUE(item.value().grad().defined()) << item.key();
  }
}

INSTANTIATE_TEST_SUITE_P(Noise, ScopedRecurrent, ::testing::Values(Cell::gru, Cell::lstm),
                         [](const auto& test) { return test.param == Cell::gru ? "gru" : "lstm"; });

class ScopedDecoder : public ::testing::TestWithParam<std::string> {};

TEST_P(ScopedDecoder, TreatsBatchElementsIndependently) {
  DecoderOptions options;
  options.embedding_dim = options.source_dim = kWidth;
  options.state_dim = options.out_dim = 6;
  options.mechanism = GetParam();
  options.dropout = 0.3;
  BahdanauDecoder decoder(options);
  expect_rows_alone([&](const Features& x) { return teacher_forced(*decoder, x, x, {}, {}).features.rows; });
}

INSTANTIATE_TEST_SUITE_P(Noise, ScopedDecoder, ::testing::Values("additive + softmax", "additive + reinforced"),
                         [](const auto& test) { return test.param.substr(test.param.find('+') + 2); });

}  // namespace
}  // namespace heed
