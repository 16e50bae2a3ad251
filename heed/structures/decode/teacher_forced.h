// Teacher forcing: all targets are known, so that only what depends on the state has to wait for it.
//
// teacher_forced() has what decoders share: checks, padding, what is wanted of the weights. The steps between are the
// decoder's own. They give the numbers that step() would give one by one.

#pragma once

#include "heed/structures/decode/decoder.h"
#include "heed/structures/encode/collected_sum.h"

namespace heed {

struct Decoded {
  Features features;  // outputs [B, T, out], 0 at padding; the keep of the targets
  Attended attended;  // of T queries: weights [B, T, L]; column_mass: of all targets together
};

/// One run over known targets.
class ForcedRun {
 public:
  ForcedRun(const Features& targets, DecoderState first, const Call& given);

  const Tensor targets;  // [T, B, E], 0 at padding
  const Call& call;
  DecoderState state;           // before the step that comes; its source is a copy for that step alone
  std::vector<Attended> steps;  // so far

  int64_t length() const { return targets.size(0); }
  /// A buffer for what the next step attends to.
  Attended& next_step() { return steps.emplace_back(); }
  /// The state goes on to `next`, after step t; at padding it stays as it is.
  void go_on(int64_t t, DecoderState next);

 private:
  void lend_source();

  CollectedSum keys_, align_keys_, values_, source_;
  Tensor keep_;  // [T, B, 1], where padding stands before something real. After all of it, states reach nothing
};

/// What teacher forcing needs of a decoder.
class StepwiseDecoder {
 public:
  virtual ~StepwiseDecoder() = default;
  virtual DecoderState start(const Features& source, const Tensor& from) = 0;
  virtual DecoderStep step(const Tensor& embedded, const DecoderState& state, const Call& call) = 0;
  /// All steps of a run: outputs [T, B, out], of which those at padding do not count.
  virtual Tensor run(ForcedRun& run) = 0;
  virtual const DecoderOptions& options() const = 0;
  /// Whether what is wanted of the weights has an axis of heads.
  virtual bool has_heads() const = 0;
};

/// All steps with known targets, rows [B, T, E].
Decoded teacher_forced(StepwiseDecoder& decoder, const Features& targets, const Features& source, const Call& call,
                       const Tensor& from);

}  // namespace heed
