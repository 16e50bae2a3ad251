// A recurrent decoder as a query model: its state is the query of each step.

#pragma once

#include "heed/models/components.h"
#include "heed/structures/decode/decoder.h"

namespace heed {

/// Reads the keys of all recurrent query models: state_dim, out_dim (0: width of the embedding), cell, gate. cells:
/// allowed values of `cell`, the default first.
DecoderOptions read_decoder(const Settings& settings, const QueryOptions& options,
                            const std::vector<std::string>& cells);

/// Decoder: BahdanauDecoder or LuongDecoder.
template <typename Decoder>
class RecurrentQuery : public QueryModel {
 public:
  QueryOutput answer(const Features& targets, const Features& seen, const Tensor& summary, const Call& call) override {
    auto decoded = decoder_->forward(targets, seen, call, summary);
    return {std::move(decoded.features), {{"cross", std::move(decoded.attended)}}};
  }
  std::unique_ptr<QueryState> start(const Features& seen, const Tensor& summary) override {
    return std::make_unique<State>(decoder_, decoder_->start(seen, summary));
  }
  int64_t width() const override { return decoder_->options().out_dim; }
  std::string aligning_step() const override { return "cross"; }

 protected:
  void hold(const DecoderOptions& options) { decoder_ = register_module("decoder", Decoder(options)); }

 private:
  class State final : public QueryState {
   public:
    State(Decoder decoder, DecoderState state) : decoder_(std::move(decoder)), state_(std::move(state)) {}
    QueryOutput step(const Tensor& embedded, const Call& call) override {
      DecoderStep next = decoder_->step(embedded, state_, call);
      state_ = std::move(next.state);
      return {{next.output.unsqueeze(1), {}}, {{"cross", std::move(next.attended)}}};
    }
    void select(const Tensor& rows) override { state_ = state_.select(rows); }

   private:
    Decoder decoder_;
    DecoderState state_;
  };

  Decoder decoder_{nullptr};
};

}  // namespace heed
