// Teacher forcing: all targets are known, so that only operations that depend on the state run step by step.
//
// teacher_forced() does what all decoders share: checks, padding, the requested outputs. The decoder's run() computes
// the steps. The result equals that of calling step() for each target.

#pragma once

#include "heed/structures/decode/decoder.h"

namespace heed {

/// The result of all steps.
struct Decoded {
  Features features;  // outputs [B, T, out_dim], 0 at padding; keep of the targets
  Attended attended;  // of T queries: weights [B, T, L]; column_mass: summed over all targets
};

class ForcedRun;  // forced_run.h

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
