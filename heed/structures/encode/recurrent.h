// Recurrent encoders: a GRU or an LSTM over features, in one direction or both.
//
//   forward   h_l = cell(f_l, h_{l-1})        backward   g_l = cell(f_l, g_{l+1})        out_l = [h_l; g_l]
//
// Padding is skipped, also between real features: the state of a direction passes from one real feature to the next,
// and the backward direction starts at the last real feature. (Cho et al., 2014; Hochreiter & Schmidhuber, 1997;
// both directions: Schuster & Paliwal, 1997)

#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/rnn.h>
#include <torch/nn/pimpl.h>

#include "heed/structures/encode/cell.h"
#include "heed/structures/features.h"

namespace heed {

/// Options of a recurrent encoder.
struct RecurrentOptions {
  int64_t in_dim = 0, out_dim = 0;  // widths of input and output; out_dim: both directions together
  int64_t num_layers = 1;
  Cell cell = Cell::gru;
  bool bidirectional = true;
  double dropout = 0;  // between layers, in training
};

/// The result of an encoder.
struct Encoded {
  Features features;  // rows [B, L, out_dim], 0 at padding; keep of the input
  Tensor last;        // [B, out_dim]: [h at the last real feature; g at the first], 0 if there are none
};

class RecurrentImpl : public torch::nn::Cloneable<RecurrentImpl> {
 public:
  explicit RecurrentImpl(RecurrentOptions options);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// rows [B, L, in_dim] -> [B, L, out_dim], or [B, S, L, in_dim] -> [B, S, L, out_dim] with S separate sequences.
  Features forward(const Features& features) { return encode(features).features; }
  /// The final state of each direction, Encoded::last.
  Tensor last(const Features& features) { return encode(features).last; }
  /// Both in one pass.
  Encoded encode(const Features& features);

  const RecurrentOptions& options() const { return options_; }

 private:
  struct Passed {
    Tensor rows, last;  // [N, L, out], [N, out]
  };
  // rows [N, L, in]; keep [N, L], undefined: no padding. real_first: no padding precedes a real feature.
  Passed pass(const Tensor& rows, const Tensor& keep, bool real_first) const;
  CellWeights weights(int64_t layer, bool backward) const;

  RecurrentOptions options_;
  torch::nn::GRU gru_{nullptr};
  torch::nn::LSTM lstm_{nullptr};
};
TORCH_MODULE(Recurrent);

}  // namespace heed
