// One run of a decoder over known targets, step by step (teacher_forced.h).

#pragma once

#include <vector>

#include "heed/structures/decode/decoder.h"
#include "heed/structures/encode/collected_sum.h"

namespace heed {

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
  Tensor keep_;  // [T, B, 1], if padding may precede a real target; states after the last real target have no effect
};

}  // namespace heed
