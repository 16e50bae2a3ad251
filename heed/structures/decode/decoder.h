// What recurrent decoders with attention have in common (Bahdanau et al., 2015; Luong et al., 2015; Xu et al., 2015).
//
// A decoder makes one output of each target, and looks at its source each time:
//
//   auto state = decoder->start(source);                       // the source is projected once
//   for (...) { auto stepped = decoder->step(y, state);  state = stepped.state;  ... stepped.output ... }
//
// or, where all targets are known, decoder->forward(targets, source): the same numbers, and what does not depend on the
// state is computed for all steps at once (teacher_forced.h).

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>
#include <torch/nn/pimpl.h>

#include "heed/attention/attention.h"
#include "heed/structures/encode/recurrent.h"
#include "heed/structures/features.h"
#include "heed/structures/structure.h"

namespace heed {

/// What an output is made of its ingredients x: tanh(W x), the larger of each pair of 2 D numbers W x, or W x.
enum class Readout { tanh, maxout, linear };

struct DecoderOptions {
  int64_t embedding_dim = 0, state_dim = 0, source_dim = 0,
          out_dim = 0;      // widths of targets, state, source and outputs
  int64_t start_dim = 0;    // of what the first state is made of (0: the mean of the source)
  std::string mechanism{};  // "": that of the paper; with a structure: that of its paper
  std::string structure{};  // how to look at the source: "multi_hop(hops=2)"; "": the mechanism alone
  int64_t hidden_dim = 0, num_heads = 1;
  bool context_gate = false;  // c <- sigmoid(w . query + b) c                                   (Xu et al., 2015)
  double dropout = 0;         // on weights, in training
  Cell cell = Cell::gru;

  // Bahdanau
  Readout readout = Readout::tanh;
  bool reads_previous_state = false;  // outputs are made of s_{i-1}, as the paper has it, not of s_i

  // Luong
  bool input_feeding = true;  // the output before is part of the input
};

/// What a decoder knows between two steps. Anything in it may be set by hand: hidden and cell to the last states of an
/// encoder, say.
struct DecoderState {
  Memory memory;        // the source, prepared once,
  Features source;      // or as given, where a structure looks at it
  Tensor hidden, cell;  // [B, state]; cell: of an LSTM
  Tensor fed;           // [B, out]: the output before, with input feeding
  int64_t targets = 0;  // so far
  // Of a policy (reinforced), which chooses keys once for a source: what it drew with at the first target. 0: nothing
  // yet. Dropout on its weights is then that of the first target as well.
  uint64_t seed = 0, stream = 0;

  /// These batch rows, int64 [n], in any order and as often as wanted: a beam search keeps some of its beams.
  /// What a policy drew belongs to positions in the batch: while it draws, chosen rows choose their keys anew.
  DecoderState select(const Tensor& rows) const;
  /// A tensor of the source, with a batch axis; undefined: the state is empty.
  const Tensor& source_rows() const { return source.rows.defined() ? source.rows : memory.values.rows(); }
};

struct DecoderStep {
  Tensor output;  // [B, out]
  DecoderState state;
  Attended attended;  // of one query: context [B, 1, source]; of a structure: its last step over the source
};

/// A decoder's view of its source: the first state, attention or a structure around it, the gate.
class GlimpseImpl : public torch::nn::Cloneable<GlimpseImpl> {
 public:
  explicit GlimpseImpl(const DecoderOptions& options);
  void reset() override;

  /// hidden = tanh(W from), cell = W' from; from [B, start], or the mean of the source.
  DecoderState start(const Features& source, const Tensor& from);
  /// Width of the context: that of the source, or what a structure makes of it.
  int64_t width() const { return structure_ ? structure_->width() : options_.source_dim; }
  /// Whether what is wanted of the weights has an axis of heads.
  bool has_heads() const { return has_heads_; }
  /// "additive + softmax", "multi_hop(hops=2) of additive + softmax"
  std::string to_string() const;
  /// The context [B, width] of query [B, state], after the gate; attended: before it. The state remembers what a
  /// policy drew with.
  Tensor look(const Tensor& query, DecoderState& state, const Call& call, Attended& attended);

 private:
  bool has_policy() const { return !structure_ && attention_->options().mechanism.align().offers().policy; }
  void look_over_structure();
  Noise noise_of_source(const Call& call, const DecoderState& state) const;

  DecoderOptions options_;
  Attention attention_{nullptr};          // or
  std::shared_ptr<Structure> structure_;  // around its mechanisms
  std::string step_;                      // the step of the structure that is reported
  bool has_heads_ = false;
  torch::nn::Linear start_{nullptr}, start_cell_{nullptr}, gate_{nullptr};
  std::shared_ptr<std::atomic<uint64_t>> sources_;  // so far, of a policy in training; a copy goes on by itself
};
TORCH_MODULE(Glimpse);

/// One step of a GRU or an LSTM.
class StepCellImpl : public torch::nn::Cloneable<StepCellImpl> {
 public:
  StepCellImpl(Cell cell, int64_t in, int64_t state);
  void reset() override;
  /// Takes hidden and cell of the state on; input [B, in].
  void forward(const Tensor& input, DecoderState& state);
  /// The same for inputs of which the first columns are known for all steps, [T, B, K].
  CellSteps along(const Tensor& known) const;

 private:
  Cell cell_;
  int64_t in_, state_;
  torch::nn::GRUCell gru_{nullptr};
  torch::nn::LSTMCell lstm_{nullptr};
};
TORCH_MODULE(StepCell);

/// Checks x [B, width], a part of the state or what comes to it.
void check_row(const std::string& what, const Tensor& x, const DecoderState& state, int64_t width);

/// Checks one embedded target [B, E] and the state it comes to.
void check_step(const std::string& who, const Tensor& embedded, const DecoderOptions& options,
                const DecoderState& state);

}  // namespace heed
