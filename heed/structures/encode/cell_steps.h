// A GRU or an LSTM over inputs that are known in advance, wholly or in part. The known columns take one product for all
// steps. Products with the state and with the remaining columns collect their gradients (collected_product.h). The
// elementwise part of a step is one autograd node.
//
//   GRU    r, z = sigmoid(x W' + h U' + b)    n = tanh(x W' + b + r (h U' + b))    h' = (1 - z) n + z h
//   LSTM   i, f, o = sigmoid(...)    g = tanh(...)    c' = f c + i g    h' = o tanh(c')
//
// Parameters have the layout of torch: gates in the order r z n and i f g o.

#pragma once

#include <utility>
#include <vector>

#include "heed/structures/encode/cell.h"
#include "heed/structures/encode/collected_product.h"

namespace heed {

class CellSteps {
 public:
  /// known [T, B, K]: the first K columns of the cell's input.
  CellSteps(Cell cell, const CellWeights& weights, const Tensor& known);

  /// Updates hidden [B, S] (and cell [B, S] of an LSTM) by step t. rest [B, in - K]: the remaining columns of the
  /// input; undefined if K = in.
  void step(int64_t t, const Tensor& rest, Tensor& hidden, Tensor& cell);

 private:
  Cell cell_;
  std::vector<Tensor> from_known_;  // x W' + b of the known columns: [B, G] for each step
  CollectedProduct from_rest_, from_state_;
};

/// h' from x W' + b and h U' + b [B, 3 S], and h [B, S].
Tensor gru_step(const Tensor& given, const Tensor& own, const Tensor& before);
/// {h', c'} from the sum of both products [B, 4 S], and c [B, S].
std::pair<Tensor, Tensor> lstm_step(const Tensor& gates, const Tensor& before);

}  // namespace heed
