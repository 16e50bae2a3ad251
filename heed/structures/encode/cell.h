// The cell of a recurrent encoder or decoder: its kind and its parameters in the layout of torch.

#pragma once

#include <ATen/core/Tensor.h>

namespace heed {

enum class Cell { gru, lstm };

struct CellWeights {
  at::Tensor inputs, states;            // [G, in], [G, S]: G = 3 S for a GRU, 4 S for an LSTM
  at::Tensor inputs_bias, states_bias;  // [G]
};

}  // namespace heed
