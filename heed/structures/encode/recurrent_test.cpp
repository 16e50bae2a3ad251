// Recurrent encoders compared with torch's own without padding, and what padding must not change.

#include "heed/structures/encode/recurrent.h"

#include <cstdio>

#include "heed/attention/testing.h"
#include "heed/torch_support/safetensors.h"

namespace heed::testing {
namespace {

class EveryRecurrent : public ::testing::TestWithParam<std::tuple<Cell, bool, int64_t>> {
 protected:
  RecurrentOptions options() const {
    return {.in_dim = 3,
            .out_dim = 4,
            .num_layers = std::get<2>(GetParam()),
            .cell = std::get<0>(GetParam()),
            .bidirectional = std::get<1>(GetParam())};
  }
  Recurrent make() const {
    at::manual_seed(2);
    Recurrent recurrent(options());
    recurrent->to(at::kDouble);
    recurrent->eval();
    return recurrent;
  }
  /// Sequence 0 has padding inside and at the end, sequence 1 is empty, sequence 2 has no padding.
  static Features some(double padding = 0) {
    at::manual_seed(3);
    const auto keep =
        at::tensor(std::vector<int64_t>{0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}).view({3, 6});
    Features f{at::randn({3, 6, 3}, kDouble), keep.to(at::kBool)};
    f.rows = f.rows.masked_fill(f.keep.logical_not().unsqueeze(-1), padding).requires_grad_();
    return f;
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryRecurrent,
                         ::testing::Combine(::testing::Values(Cell::gru, Cell::lstm), ::testing::Bool(),
                                            ::testing::Values(1, 2)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param) == Cell::gru ? "gru" : "lstm") +
                                  (std::get<1>(test.param) ? "_both_ways_" : "_one_way_") +
                                  std::to_string(std::get<2>(test.param));
                         });

/// torch's own cell with the weights of the encoder.
std::pair<Tensor, Tensor> torchs(Recurrent& ours, const Tensor& rows) {
  const auto& o = ours->options();
  const int64_t width = o.bidirectional ? o.out_dim / 2 : o.out_dim;
  const auto copy = [&](auto module, const char* name) {
    module->to(at::kDouble);
    const at::NoGradGuard no_grad;
    const auto mine = ours->named_parameters();
    for (auto& item : module->named_parameters()) item.value().copy_(mine[name + item.key()]);
    return module;
  };
  const auto side_by_side = [&](const Tensor& states) {
    const int64_t directions = o.bidirectional ? 2 : 1;
    return states.slice(0, -directions).transpose(0, 1).reshape({rows.size(0), o.out_dim});
  };
  if (o.cell == Cell::gru) {
    auto gru = copy(torch::nn::GRU(torch::nn::GRUOptions(o.in_dim, width)
                                       .num_layers(o.num_layers)
                                       .bidirectional(o.bidirectional)
                                       .batch_first(true)),
                    "gru.");
    const auto [states, last] = gru->forward(rows);
    return {states, side_by_side(last)};
  }
  auto lstm = copy(torch::nn::LSTM(torch::nn::LSTMOptions(o.in_dim, width)
                                       .num_layers(o.num_layers)
                                       .bidirectional(o.bidirectional)
                                       .batch_first(true)),
                   "lstm.");
  const auto [states, last] = lstm->forward(rows);
  return {states, side_by_side(std::get<0>(last))};
}

TEST_P(EveryRecurrent, IsTorchsOwnWhereEverythingIsReal) {
  auto recurrent = make();
  const Features f{at::randn({2, 5, 3}, kDouble), {}};
  const auto [states, last] = torchs(recurrent, f.rows);
  EXPECT_TRUE(close(recurrent->forward(f).rows, states, 1e-12));
  EXPECT_TRUE(close(recurrent->last(f), last, 1e-12));
}

TEST_P(EveryRecurrent, SkipsPaddingAsIfItWereNotThere) {
  auto recurrent = make();
  const Features f = some(std::nan(""));
  const auto encoded = recurrent->encode(f);
  for (int64_t b = 0; b < 3; ++b) {
    const auto real = f.keep[b].nonzero().squeeze(1);
    if (real.numel() == 0) continue;
    const auto [states, last] = torchs(recurrent, f.rows[b].index_select(0, real).unsqueeze(0));
    EXPECT_TRUE(close(encoded.features.rows[b].index_select(0, real), states[0], 1e-12)) << b;
    EXPECT_TRUE(close(encoded.last[b], last[0], 1e-12)) << b;
  }
  EXPECT_EQ(largest(encoded.features.rows.masked_select(f.keep.logical_not().unsqueeze(-1))), 0);
  EXPECT_TRUE(same_bits(encoded.features.keep, f.keep));
}

TEST_P(EveryRecurrent, GivesAnEmptySequenceZerosAndNoGradient) {
  auto recurrent = make();
  const Features f = some(std::nan(""));
  const auto encoded = recurrent->encode(f);
  EXPECT_EQ(largest(encoded.features.rows[1]), 0);
  EXPECT_EQ(largest(encoded.last[1]), 0);
  const auto grads = gradients(encoded.features.rows.sum() + encoded.last.sum(), {f.rows})[0];
  EXPECT_TRUE(grads.isfinite().all().item<bool>());
  EXPECT_EQ(largest(grads.masked_select(f.keep.logical_not().unsqueeze(-1))), 0);
  const auto again = recurrent->encode(f);
  const auto alone = gradients(again.features.rows[1].sum() + again.last[1].sum(), recurrent->parameters());
  for (const auto& grad : alone) EXPECT_TRUE(!grad.defined() || largest(grad) == 0);
}

TEST_P(EveryRecurrent, NeverReadsPadding) {
  auto recurrent = make();
  std::vector<Tensor> first;
  for (const double padding : {0.0, 1e3, std::nan("")}) {
    const Features f = some(padding);
    const auto encoded = recurrent->encode(f);
    auto leaves = recurrent->parameters();
    leaves.push_back(f.rows);
    auto found = gradients((encoded.features.rows * waves(encoded.features.rows)).sum() + encoded.last.sum(), leaves);
    found.push_back(encoded.features.rows);
    if (first.empty()) first = found;
    for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(same_bits(found[i], first[i])) << i;
  }
}

TEST_P(EveryRecurrent, AcceptsEmptyAxes) {
  auto recurrent = make();
  for (const auto& [b, l] : {std::pair{0, 5}, {2, 0}, {0, 0}}) {
    const auto encoded = recurrent->encode({at::randn({b, l, 3}, kDouble), at::ones({b, l}, at::kBool)});
    EXPECT_EQ(encoded.features.rows.sizes(), at::IntArrayRef({b, l, 4}));
    EXPECT_EQ(encoded.last.sizes(), at::IntArrayRef({b, 4}));
  }
}

TEST_P(EveryRecurrent, GoesSentenceBySentenceThroughDeeperLevels) {
  auto recurrent = make();
  const Features f = some();
  const auto flat = recurrent->encode(f);
  const auto deep = recurrent->encode({f.rows.unsqueeze(0), f.keep.unsqueeze(0)});
  EXPECT_TRUE(same_bits(deep.features.rows[0], flat.features.rows));
  EXPECT_TRUE(same_bits(deep.last[0], flat.last));
}

TEST_P(EveryRecurrent, HasTheGradientOfCentralDifferences) {
  auto recurrent = make();
  const Features f = some();
  const auto loss = [&] {
    const auto encoded = recurrent->encode(f);
    return (encoded.features.rows * waves(encoded.features.rows)).sum() + (encoded.last * waves(encoded.last, 1)).sum();
  };
  auto leaves = recurrent->parameters();
  leaves.push_back(f.rows);
  const auto found = gradients(loss(), leaves);
  const at::NoGradGuard no_grad;
  constexpr double h = 1e-6;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const auto way = at::randn_like(leaves[i]);
    auto x = leaves[i].detach();
    x.add_(way, h);
    const double up = loss().item<double>();
    x.sub_(way, 2 * h);
    const double down = loss().item<double>();
    x.add_(way, h);
    const double ours = (found[i] * way).sum().item<double>();
    EXPECT_NEAR(ours, (up - down) / (2 * h), 1e-6 * (1 + std::abs(ours))) << i;
  }
}

TEST_P(EveryRecurrent, CopiesAndSavesItself) {
  auto recurrent = make();
  const Features f = some();
  const auto expected = recurrent->forward(f).rows;
  const auto copy = std::dynamic_pointer_cast<RecurrentImpl>(recurrent->clone());
  const std::string path = ::testing::TempDir() + "heed_recurrent_" + std::to_string(::getpid()) + ".safetensors";
  save_parameters(*recurrent, path);
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : recurrent->parameters()) parameter.fill_(0.1);
  }
  EXPECT_TRUE(same_bits(copy->forward(f).rows, expected));
  load_parameters(*recurrent, path);
  std::remove(path.c_str());
  EXPECT_TRUE(same_bits(recurrent->forward(f).rows, expected));
}

/// Sequences of 4, 0 and 6 features, padded at their ends.
Features padded_at_the_end() {
  at::manual_seed(5);
  const auto keep = at::arange(6).unsqueeze(0) < at::tensor({4, 0, 6}).unsqueeze(1);
  return {at::randn({3, 6, 3}, kDouble).requires_grad_(), keep};
}

TEST_P(EveryRecurrent, NeedNotBeToldThatPaddingComesLast) {
  auto recurrent = make();
  Features told = padded_at_the_end();
  told.real_first = true;
  const Encoded a = recurrent->encode(padded_at_the_end()), b = recurrent->encode(told);
  EXPECT_TRUE(at::equal(a.features.rows, b.features.rows));
  EXPECT_TRUE(at::equal(a.last, b.last));
  EXPECT_TRUE(b.features.real_first);
}

TEST_P(EveryRecurrent, GivesTheSameOnAGpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  for (const Features& given : {some(), padded_at_the_end()}) {
    auto here = make(), there = make();
    there->to(at::kCUDA);
    const auto run = [&](Recurrent& recurrent, at::Device device) {
      const auto rows = given.rows.detach().to(device).requires_grad_();
      const Encoded encoded = recurrent->encode({rows, given.keep.to(device)});
      (encoded.features.rows.square().sum() + encoded.last.sin().sum()).backward();
      std::vector<Tensor> all{encoded.features.rows.detach(), encoded.last.detach(), rows.grad()};
      for (const auto& parameter : recurrent->parameters()) all.push_back(parameter.grad());
      return all;
    };
    const auto expected = run(here, at::kCPU), got = run(there, at::kCUDA);
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(close(got[i].cpu(), expected[i], 1e-9)) << i;
  }
}

TEST(Recurrent, RefusesWidthsThatDoNotFit) {
  EXPECT_THROW(Recurrent(RecurrentOptions{.in_dim = 3, .out_dim = 5}), Error);
  EXPECT_THROW(Recurrent(RecurrentOptions{.in_dim = 0, .out_dim = 4}), Error);
  Recurrent recurrent(RecurrentOptions{.in_dim = 3, .out_dim = 4});
  EXPECT_THROW(recurrent->forward({at::zeros({2, 5, 4}), {}}), Error);
  EXPECT_THROW(recurrent->forward({at::zeros({2, 5, 3}), at::ones({2, 4}, at::kBool)}), Error);
  EXPECT_THROW(recurrent->forward({at::zeros({2, 5, 3}), at::ones({2, 5}, at::kLong)}), Error);
  EXPECT_THROW(recurrent->forward({at::zeros({2, 5, 3}, kDouble), {}}), Error);
}

}  // namespace
}  // namespace heed::testing
