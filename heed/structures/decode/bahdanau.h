// The decoder of Bahdanau et al. (2015): it attends to the source with the previous state, then updates the state.
//
//   c_i = Att(s_{i-1}, H)        s_i = cell([y_{i-1}; c_i], s_{i-1})        t_i = readout([s_i; y_{i-1}; c_i])
//
// With an LSTM and the context gate it is the decoder of Xu et al. (2015). The initial state is tanh(W_s from). For
// `from` the paper uses the encoder's backward state at the first word, half of RecurrentImpl::last; Xu et al. use the
// mean of the source.

#pragma once

#include "heed/structures/decode/teacher_forced.h"

namespace heed {

class BahdanauDecoderImpl : public torch::nn::Cloneable<BahdanauDecoderImpl>, public StepwiseDecoder {
 public:
  /// attention: what attends to the source; null: one is made from the options.
  explicit BahdanauDecoderImpl(DecoderOptions options, std::shared_ptr<SourceAttention> attention = nullptr);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// The initial state. source [B, L, source_dim]; from [B, start_dim], or undefined: the mean of the source.
  DecoderState start(const Features& source, const Tensor& from = {}) override;
  /// One step. embedded [B, E]: the previous target, y_{i-1}.
  DecoderStep step(const Tensor& embedded, const DecoderState& state, const Call& call = {}) override;
  /// All steps at once. targets [B, T, E]: the target that precedes each output.
  Decoded forward(const Features& targets, const Features& source, const Call& call = {}, const Tensor& from = {}) {
    return teacher_forced(*this, targets, source, call, from);
  }

  const DecoderOptions& options() const override { return options_; }

 private:
  Tensor run(ForcedRun& run) override;
  bool has_heads() const override { return glimpse_->has_heads(); }
  Tensor read_out(const Tensor& x);

  DecoderOptions options_;
  std::shared_ptr<SourceAttention> attention_;  // as given
  Glimpse glimpse_{nullptr};
  StepCell cell_{nullptr};
  torch::nn::Linear readout_{nullptr};
};
TORCH_MODULE(BahdanauDecoder);

}  // namespace heed
