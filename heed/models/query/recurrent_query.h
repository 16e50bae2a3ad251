// A recurrent decoder as a query model: its state is the query of each step.

#pragma once

#include "heed/models/components.h"
#include "heed/structures/decode/decoder.h"

namespace heed {

/// The keys of all recurrent query models. default_cell: "gru" or "lstm".
RecipeKeyList decoder_keys(const std::string& default_cell);

/// Reads these keys.
DecoderOptions read_decoder(const Settings& settings, const QueryOptions& options, const std::string& default_cell);

/// Decoder: BahdanauDecoder or LuongDecoder.
template <typename Decoder>
class RecurrentQuery : public QueryModel {
 public:
  void build() override {
    attention_->build(options_.state_dim, options_.source_dim);
    decoder_ = register_module("decoder", Decoder(options_, attention_));
  }
  QueryOutput answer(const Features& targets, const Features& seen, const Tensor& summary, const Call& call) override {
    auto decoded = decoder_->forward(targets, seen, call, summary);
    return {std::move(decoded.features), {{"cross", std::move(decoded.attended)}}};
  }
  std::unique_ptr<QueryState> start(const Features& seen, const Tensor& summary) override {
    return std::make_unique<State>(decoder_, decoder_->start(seen, summary), attention_->steps_alike());
  }
  int64_t width() const override { return options_.out_dim; }
  std::string aligning_step() const override { return "cross"; }

 protected:
  RecurrentQuery(DecoderOptions options, std::shared_ptr<AttentionModel> attention)
      : options_(std::move(options)), attention_(std::move(attention)) {
    attention_->check_fits(options_.state_dim, options_.source_dim);
  }
  DecoderOptions options_;

 private:
  class State final : public QueryState {
   public:
    /// steps_alike: whether attention is the same at every step.
    State(Decoder decoder, DecoderState state, bool steps_alike)
        : steps_alike_(steps_alike), decoder_(std::move(decoder)), state_(std::move(state)) {}
    QueryOutput step(const Tensor& embedded, const Call& call) override {
      DecoderStep next = decoder_->step(embedded, state_, call);
      if (fixed_)
        write(next.state.hidden, next.state.cell, next.state.fed);
      else
        state_ = std::move(next.state);
      return {{next.output.unsqueeze(1), {}}, {{"cross", std::move(next.attended)}}};
    }
    void select(const Tensor& rows) override { state_ = state_.select(rows); }
    void reorder(const Tensor& rows, int64_t /*beams*/) override {
      DecoderState next = state_.reorder(rows);
      if (fixed_)
        write(next.hidden, next.cell, next.fed);
      else
        state_ = std::move(next);
    }
    bool fix(int64_t /*steps*/) override {
      if (!steps_alike_) return false;
      const auto own = [](Tensor& x) { x = x.defined() ? x.clone() : x; };
      own(state_.hidden);
      own(state_.cell);
      own(state_.fed);
      return fixed_ = true;
    }

   private:
    /// Writes the state where it was.
    void write(const Tensor& hidden, const Tensor& cell, const Tensor& fed) {
      state_.hidden.copy_(hidden);
      if (cell.defined()) state_.cell.copy_(cell);
      if (fed.defined()) state_.fed.copy_(fed);
    }

    bool steps_alike_, fixed_ = false;
    Decoder decoder_;
    DecoderState state_;
  };

  std::shared_ptr<AttentionModel> attention_;  // its module is a child of the decoder
  Decoder decoder_{nullptr};
};

}  // namespace heed
