// Common parts of recurrent decoders with attention (Bahdanau et al., 2015; Luong et al., 2015; Xu et al., 2015).
//
// A decoder computes one output for each target and attends to its source at every step:
//
//   auto state = decoder->start(source);                       // the source is projected once
//   for (...) { auto stepped = decoder->step(y, state);  state = stepped.state;  ... stepped.output ... }
//
// If all targets are known, decoder->forward(targets, source) gives the same numbers and computes everything that does
// not depend on the state for all steps at once (teacher_forced.h).

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>
#include <torch/nn/pimpl.h>

#include "heed/attention/align.h"
#include "heed/attention/attention.h"
#include "heed/structures/encode/recurrent.h"
#include "heed/structures/features.h"
#include "heed/structures/structure.h"

namespace heed {

class CellSteps;  // encode/cell_steps.h

/// How an output is computed from its input x: tanh(W x), the maximum of each pair of the 2 D numbers W x, or W x.
enum class Readout { tanh, maxout, linear };

/// Options of a recurrent decoder.
struct DecoderOptions {
  int64_t embedding_dim = 0, state_dim = 0, source_dim = 0,
          out_dim = 0;      // widths of embedded targets, state, source and outputs
  int64_t start_dim = 0;    // width of `from` in start(); 0: the mean of the source is used
  std::string mechanism{};  // spec; empty: the mechanism of the decoder's paper, or of the structure's
  std::string structure{};  // spec of a structure that attends to the source, "multi_hop(hops=2)"; empty: none
  int64_t hidden_dim = 0, num_heads = 1;
  bool context_gate = false;  // c <- sigmoid(w . query + b) c                                   (Xu et al., 2015)
  double dropout = 0;         // on attention weights, in training
  Cell cell = Cell::gru;

  // Bahdanau
  Readout readout = Readout::tanh;
  bool reads_previous_state = false;  // outputs are computed from s_{i-1}, as in the paper, instead of s_i

  // Luong
  bool input_feeding = true;  // the previous output is part of the input
};

/// The state of a decoder between two steps. Every field may be set by hand, for example hidden and cell to the last
/// state of an encoder.
struct DecoderState {
  Memory memory;        // the source with its projections, if the mechanism attends to it directly
  Features source;      // the source as given, if a structure attends to it
  Tensor hidden, cell;  // [B, state_dim]; cell: LSTM only
  Tensor fed;           // [B, out_dim]: the previous output, with input feeding
  int64_t targets = 0;  // number of steps so far
  // Seed and stream that a policy (reinforced) used at the first target: it selects keys once per source. 0: not drawn
  // yet. Dropout on its weights also repeats that of the first target.
  uint64_t seed = 0, stream = 0;

  /// The state of these batch elements: int64 [n], in any order, repeats allowed. A beam search selects its beams. The
  /// draws of a policy depend on the index in the batch: while it samples, selected elements draw their keys again.
  DecoderState select(const Tensor& rows) const;
  /// The same for rows [B] that replace each batch element by one of the same source: the source is shared, not copied.
  DecoderState reorder(const Tensor& rows) const;
  /// A tensor of the source with a batch axis; undefined if the state is empty.
  const Tensor& source_rows() const { return source.rows.defined() ? source.rows : memory.values.rows(); }
};

/// The result of one step.
struct DecoderStep {
  Tensor output;  // [B, out_dim]
  DecoderState state;
  Attended attended;  // one query: context [B, 1, source_dim]; with a structure: its last step over the source
};

/// Options of a SourceAttention.
struct SourceAttentionOptions {
  int64_t query_dim = 0, source_dim = 0;  // widths of queries and source
  std::string mechanism{};                // spec
  std::string structure{};                // spec, "multi_hop(hops=2)"; empty: the mechanism alone
  int64_t hidden_dim = 0, num_heads = 1;
  double dropout = 0;  // on attention weights, in training
};

/// Attends to a source with one query after another: by an Attention, or by a structure of one query and one input. It
/// has a child, "attention" or "structure", once it is built.
class SourceAttention : public torch::nn::Module {
 public:
  SourceAttention() = default;
  explicit SourceAttention(const SourceAttentionOptions& options) { build(options); }
  /// Makes the child. Called once.
  void build(const SourceAttentionOptions& options);

  /// Stores the source in the state, projected if the mechanism attends to it directly.
  void prepare(const Features& source, DecoderState& state);
  /// The context [B, width] of query [B, query_dim]; `attended` is the result. Stores the seed of a policy in the
  /// state. Of a structure Call::replace_weights replaces the weights that are reported, and no others.
  Tensor attend(const Tensor& query, DecoderState& state, const Call& call, Attended& attended);

  /// Whether a query is attended in the same way at every step: the mechanism reads no positions and draws nothing.
  bool steps_alike() const;
  /// A new one with the same options: a copy does not share parameters.
  std::shared_ptr<SourceAttention> renewed() const;
  const SourceAttentionOptions& options() const { return options_; }
  /// Width of the context: that of the source, or that of the structure.
  int64_t width() const { return structure_ ? structure_->width() : options_.source_dim; }
  /// Whether requested weights have a head axis.
  bool has_heads() const { return has_heads_; }
  /// "additive + softmax", "multi_hop(hops=2) of additive + softmax"
  std::string to_string() const;

 private:
  bool has_policy() const { return !structure_ && attention_->options().mechanism.align().offers().policy; }
  void find_step();
  Noise noise_of_source(const Call& call, const DecoderState& state) const;

  SourceAttentionOptions options_;
  Attention attention_{nullptr};          // null if there is a structure
  std::shared_ptr<Structure> structure_;  // null if there is none
  std::string step_;                      // name of the structure's step that is reported
  size_t step_number_ = 0;                // and which of its uses of a mechanism it is
  bool has_heads_ = false;
  std::shared_ptr<std::atomic<uint64_t>> sources_ =
      std::make_shared<std::atomic<uint64_t>>(0);  // sources a policy has drawn for in training
};

/// What a recurrent decoder does around its attention: the initial state, and the context gate.
class GlimpseImpl : public torch::nn::Cloneable<GlimpseImpl> {
 public:
  /// attention: what attends to the source, built for state_dim and source_dim; null: one is made from the options. Its
  /// child is registered here, so that parameters have the same names whoever made it.
  explicit GlimpseImpl(const DecoderOptions& options, std::shared_ptr<SourceAttention> attention = nullptr);
  void reset() override;

  /// hidden = tanh(W from), cell = W' from; from [B, start_dim], or undefined: the mean of the source.
  DecoderState start(const Features& source, const Tensor& from);
  int64_t width() const { return attention_->width(); }
  bool has_heads() const { return attention_->has_heads(); }
  std::string to_string() const { return attention_->to_string(); }
  /// The context [B, width] of query [B, state_dim], after the gate; `attended` is the result before the gate.
  Tensor look(const Tensor& query, DecoderState& state, const Call& call, Attended& attended);

 private:
  void build();

  DecoderOptions options_;
  std::shared_ptr<SourceAttention> attention_;  // not registered itself: its child is
  torch::nn::Linear start_{nullptr}, start_cell_{nullptr}, gate_{nullptr};
};
TORCH_MODULE(Glimpse);

/// One step of a GRU or an LSTM.
class StepCellImpl : public torch::nn::Cloneable<StepCellImpl> {
 public:
  StepCellImpl(Cell cell, int64_t in, int64_t state);
  void reset() override;
  /// Updates hidden and cell of the state; input [B, in].
  void forward(const Tensor& input, DecoderState& state);
  /// The same cell for inputs whose first K columns are known for all steps, [T, B, K].
  CellSteps along(const Tensor& known) const;

 private:
  Cell cell_;
  int64_t in_, state_;
  torch::nn::GRUCell gru_{nullptr};
  torch::nn::LSTMCell lstm_{nullptr};
};
TORCH_MODULE(StepCell);

/// Checks x [B, width], a tensor of the state or an input of a step. Throws Error.
void check_row(const std::string& what, const Tensor& x, const DecoderState& state, int64_t width);

/// Checks one embedded target [B, E] and the state before it. Throws Error.
void check_step(const std::string& who, const Tensor& embedded, const DecoderOptions& options,
                const DecoderState& state);

}  // namespace heed
