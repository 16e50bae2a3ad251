// The decoder of Luong et al. (2015): it updates its state, then attends to the source with the new state.
//
//   h_t = cell([y_{t-1}; h~_{t-1}], h_{t-1})        c_t = Att(h_t, H)        h~_t = tanh(W_c [c_t; h_t])
//
// With input feeding, h~_{t-1} is part of the input; without it the input is y_{t-1} alone. The paper starts from the
// encoder's last state: set hidden and cell of the state that start() returns. Otherwise it is tanh(W_s from).

#pragma once

#include "heed/structures/decode/teacher_forced.h"

namespace heed {

class LuongDecoderImpl : public torch::nn::Cloneable<LuongDecoderImpl>, public StepwiseDecoder {
 public:
  /// attention: what attends to the source; null: one is made from the options.
  explicit LuongDecoderImpl(DecoderOptions options, std::shared_ptr<SourceAttention> attention = nullptr);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// The initial state. source [B, L, source_dim]; from [B, start_dim], or undefined: the mean of the source.
  DecoderState start(const Features& source, const Tensor& from = {}) override;
  /// One step. embedded [B, E]: the previous target, y_{t-1}.
  DecoderStep step(const Tensor& embedded, const DecoderState& state, const Call& call = {}) override;
  /// All steps at once. targets [B, T, E]: the target that precedes each output.
  Decoded forward(const Features& targets, const Features& source, const Call& call = {}, const Tensor& from = {}) {
    return teacher_forced(*this, targets, source, call, from);
  }

  const DecoderOptions& options() const override { return options_; }

 private:
  Tensor run(ForcedRun& run) override;
  bool has_heads() const override { return glimpse_->has_heads(); }

  DecoderOptions options_;
  std::shared_ptr<SourceAttention> attention_;  // as given
  Glimpse glimpse_{nullptr};
  StepCell cell_{nullptr};
  torch::nn::Linear mix_{nullptr};
};
TORCH_MODULE(LuongDecoder);

}  // namespace heed
