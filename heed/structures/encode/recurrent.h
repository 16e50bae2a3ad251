// Recurrent encoders: a GRU or an LSTM over features, in one direction or both.
//
//   forward   h_l = cell(f_l, h_{l-1})        backward   g_l = cell(f_l, g_{l+1})        out_l = [h_l; g_l]
//
// Padding is skipped as if it were not there, holes too: the state of a direction goes from one real feature to the
// next, and the backward one begins at the last real feature. (Cho et al., 2014; Hochreiter & Schmidhuber, 1997;
// both directions: Schuster & Paliwal, 1997)

#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/rnn.h>
#include <torch/nn/pimpl.h>

#include "heed/structures/encode/cell_steps.h"
#include "heed/structures/features.h"

namespace heed {

struct RecurrentOptions {
  int64_t in_dim = 0, out_dim = 0;  // widths; out: of all directions together
  int64_t num_layers = 1;
  Cell cell = Cell::gru;
  bool bidirectional = true;
  double dropout = 0;  // between layers, in training
};

struct Encoded {
  Features features;  // rows [B, L, out], 0 at padding; the keep of the input
  Tensor last;        // [B, out]: [h after the last real feature; g after the first], 0 where there is none
};

class RecurrentImpl : public torch::nn::Cloneable<RecurrentImpl> {
 public:
  explicit RecurrentImpl(RecurrentOptions options);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// rows [B, L, in], or deeper: [B, S, L, in] gives [B, S, L, out], sentence by sentence.
  Features forward(const Features& features) { return encode(features).features; }
  /// The final state of each direction, to start a decoder from.
  Tensor last(const Features& features) { return encode(features).last; }
  /// Both in one pass.
  Encoded encode(const Features& features);

  const RecurrentOptions& options() const { return options_; }

 private:
  struct Passed {
    Tensor rows, last;  // [N, L, out], [N, out]
  };
  // rows [N, L, in], keep [N, L] or undefined: all are real.
  Passed step_by_step(const Tensor& rows, const Tensor& keep) const;
  CellWeights weights(int64_t layer, bool backward) const;
  // By torch's modules, which on a GPU are kernels for the whole pass.
  Passed by_torch(const Tensor& rows);
  Passed by_torch(const Tensor& rows, const Tensor& keep);
  /// Layer by layer on torch's kernels, with dropout of ours between them; counts [N]: the real rows, in front, or
  /// undefined: all.
  Passed by_layers(Tensor rows, const Tensor& counts);
  bool draws_in_scope() const;
  Tensor final_state(const Tensor& states) const;

  RecurrentOptions options_;
  torch::nn::GRU gru_{nullptr};
  torch::nn::LSTM lstm_{nullptr};
};
TORCH_MODULE(Recurrent);

}  // namespace heed
