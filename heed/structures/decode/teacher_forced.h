// Teacher forcing: all targets are known, so that only operations that depend on the state run step by step.
//
// teacher_forced() does what all decoders share: checks, padding, the requested outputs. The decoder's run() computes
// the steps. The result equals that of calling step() for each target.

#pragma once

#include "heed/structures/decode/decoder.h"
#include "heed/structures/encode/collected_sum.h"

namespace heed {

/// The result of all steps.
struct Decoded {
  Features features;  // outputs [B, T, out_dim], 0 at padding; keep of the targets
  Attended attended;  // of T queries: weights [B, T, L]; column_mass: summed over all targets
};

/// One run over known targets.
class ForcedRun {
 public:
  ForcedRun(const Features& targets, DecoderState first, const Call& given);

  const Tensor targets;  // [T, B, E], 0 at padding
  const Call& call;
  DecoderState state;           // before the next step; its source tensors are handles for that step alone
  std::vector<Attended> steps;  // results so far

  int64_t length() const { return targets.size(0); }
  /// Appends an empty result for the next step.
  Attended& next_step() { return steps.emplace_back(); }
  /// Replaces the state by `next` after step t; at padding the state stays as it is.
  void go_on(int64_t t, DecoderState next);

 private:
  void lend_source();

  CollectedSum keys_, align_keys_, values_, source_;
  Tensor keep_;  // [T, B, 1], if padding precedes a real target; states after the last real target have no effect
};

/// Interface of a decoder that teacher_forced() runs.
class StepwiseDecoder {
 public:
  virtual ~StepwiseDecoder() = default;
  virtual DecoderState start(const Features& source, const Tensor& from) = 0;
  virtual DecoderStep step(const Tensor& embedded, const DecoderState& state, const Call& call) = 0;
  /// All steps of a run: outputs [T, B, out_dim]; those at padding are ignored.
  virtual Tensor run(ForcedRun& run) = 0;
  virtual const DecoderOptions& options() const = 0;
  /// Whether requested weights have a head axis.
  virtual bool has_heads() const = 0;
};

/// Runs all steps with known targets, rows [B, T, E]. from: as in start().
Decoded teacher_forced(StepwiseDecoder& decoder, const Features& targets, const Features& source, const Call& call,
                       const Tensor& from);

}  // namespace heed
