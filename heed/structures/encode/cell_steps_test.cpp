// Cells over known inputs compared with torch's own cells, step by step.

#include "heed/structures/encode/cell_steps.h"

#include <tuple>

#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

constexpr int64_t kCellSteps = 3, kCellRows = 2, kKnown = 3, kRest = 2;

struct Along {
  Cell cell;
  int64_t width;  // of the state; 11 is one block of 8 lanes and a remainder
  int64_t rest;
  at::TensorOptions type = kDouble;
  int64_t gates = (cell == Cell::gru ? 3 : 4) * width;
  CellWeights weights{leaf({gates, kKnown + rest}), leaf({gates, width}), leaf({gates}), leaf({gates})};
  Tensor known = leaf({kCellSteps, kCellRows, kKnown}), more = leaf({kCellSteps, kCellRows, kRest});
  Tensor hidden = leaf({kCellRows, width}), memory = leaf({kCellRows, width});

  Tensor leaf(at::IntArrayRef shape) const { return at::randn(shape, type).requires_grad_(); }
  std::vector<Tensor> leaves() const {
    std::vector<Tensor> all{weights.inputs, weights.states, weights.inputs_bias, weights.states_bias, known, hidden};
    if (rest > 0) all.push_back(more);
    if (cell == Cell::lstm) all.push_back(memory);
    return all;
  }

  Tensor ours() const {
    CellSteps steps(cell, weights, known);
    return states(
        [&](int64_t t, Tensor& h, Tensor& c) { steps.step(t, rest > 0 ? more.select(0, t) : Tensor(), h, c); });
  }
  Tensor torchs() const {
    return states([&](int64_t t, Tensor& h, Tensor& c) {
      const auto x = rest > 0 ? at::cat({known.select(0, t), more.select(0, t)}, 1) : known.select(0, t);
      if (cell == Cell::gru)
        h = at::gru_cell(x, h, weights.inputs, weights.states, weights.inputs_bias, weights.states_bias);
      else
        std::tie(h, c) =
            at::lstm_cell(x, {h, c}, weights.inputs, weights.states, weights.inputs_bias, weights.states_bias);
    });
  }
  template <typename Step>
  Tensor states(const Step& step) const {
    Tensor h = hidden, c = memory;
    std::vector<Tensor> all;
    for (int64_t t = 0; t < kCellSteps; ++t) {
      step(t, h, c);
      all.push_back(h);
    }
    if (cell == Cell::lstm) all.push_back(c);
    return at::stack(all);
  }
};

Tensor cell_loss(const Tensor& x) {
  return (x * waves(x)).sum();
}

class EveryCell : public ::testing::TestWithParam<std::tuple<Cell, int64_t>> {
 protected:
  Along make(at::ScalarType type = at::kDouble, int64_t width = 11) const {
    at::manual_seed(4);
    return {std::get<0>(GetParam()), width, std::get<1>(GetParam()), at::TensorOptions().dtype(type)};
  }
};
INSTANTIATE_TEST_SUITE_P(CellSteps, EveryCell,
                         ::testing::Combine(::testing::Values(Cell::gru, Cell::lstm),
                                            ::testing::Values(int64_t{0}, kRest)));

TEST_P(EveryCell, TakesTheStepsOfTorchsOwn) {
  for (const int64_t width : {1, 8, 11}) {
    const auto c = make(at::kDouble, width);
    EXPECT_TRUE(close(c.ours(), c.torchs(), 1e-12));
    const auto found = gradients(cell_loss(c.ours()), c.leaves()),
               expected = gradients(cell_loss(c.torchs()), c.leaves());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(close(found[i], expected[i], 1e-11)) << i;
  }
}

TEST_P(EveryCell, TakesThemInFloat) {
  const auto c = make(at::kFloat);
  EXPECT_TRUE(close(c.ours(), c.torchs(), 1e-5));
  const auto found = gradients(cell_loss(c.ours()), c.leaves()),
             expected = gradients(cell_loss(c.torchs()), c.leaves());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(close(found[i], expected[i], 1e-4)) << i;
}

TEST_P(EveryCell, CanBeDifferentiatedTwice) {
  const auto c = make();
  const auto twice = [&](const Tensor& out) {
    Tensor sum = at::zeros({}, kDouble);
    for (const auto& grad : gradients(cell_loss(out), c.leaves(), /*create_graph=*/true))
      sum = sum + cell_loss(grad.square());
    return gradients(sum, c.leaves());
  };
  const auto found = twice(c.ours()), expected = twice(c.torchs());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(close(found[i], expected[i], 1e-9)) << i;
}

// The loss depends only on the last hidden state, or only on the last cell state of an LSTM.
TEST_P(EveryCell, TakesGradientsThatArriveByOneWayOnly) {
  const auto c = make();
  for (const int64_t position : {0, -1}) {
    const auto found = gradients(cell_loss(c.ours().select(0, position)), c.leaves());
    const auto expected = gradients(cell_loss(c.torchs().select(0, position)), c.leaves());
    for (size_t i = 0; i < found.size(); ++i) {
      if (!expected[i].defined()) continue;
      EXPECT_TRUE(close(found[i], expected[i], 1e-11)) << i;
    }
  }
}

}  // namespace
}  // namespace heed::testing
