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
  /// The call of step t: links are those of its query, which is query 0 there.
  Call call_at(int64_t t) const;
  /// The log-weights at the links of all steps, in the order of the call; undefined: none were requested. -inf at
  /// padded targets.
  Tensor link_log_weights(const Tensor& keep) const;
  /// Appends an empty result for the next step.
  Attended& next_step() { return steps.emplace_back(); }
  /// Replaces the state by `next` after step t; at padding the state stays as it is.
  void go_on(int64_t t, DecoderState next);

 private:
  void lend_source();

  CollectedSum keys_, align_keys_, values_, source_;
  void sort_links();

  Tensor links_;                         // of the call, by query, on its device; undefined: none
  std::vector<int64_t> first_link_;      // [T + 1]: index in links_ of the first link of each step
  std::vector<int64_t> link_positions_;  // index in links_ of each link of the call
  Tensor keep_;  // [T, B, 1], if padding may precede a real target; states after the last real target have no effect
};

}  // namespace heed
