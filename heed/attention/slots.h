// Internal: the input tensors of a prepared call as one list, and its outputs as another. A custom autograd function
// tracks only the tensors in its argument list, not those that a closure captures.

#pragma once

#include "heed/attention/composed.h"
#include "heed/torch_support/own_backward.h"

namespace heed {

/// Indices of the inputs; the parameters follow after kSlots.
enum Slot {
  kQuery,
  kKeys,
  kAlignQuery,
  kAlignKeys,
  kValues,
  kKeep,
  kMaskCount,
  kReachCount,
  kFull,
  kPerKey,
  kRelative,
  kAlibi,
  kUniforms,
  kKernelKeys,
  kSlots
};

/// Indices of the outputs.
enum Out { kContext, kWeights, kLse, kEntropy, kColumnMass, kTopWeights, kTopKeys, kLinks, kLogProbability, kOuts };

/// A call without its input tensors.
struct Work {
  Mechanism mechanism;
  Parameters parameters;  // names and sizes, tensors undefined
  Call call;
};
Work without_tensors(const Mechanism& mechanism, const Parameters& parameters, const Call& call);

Tensors slots_of(const Prepared& prepared, const Parameters& parameters, const Call& call);
/// The inverse of slots_of. Of prepared.reach only key_count is defined.
Prepared prepared_from(const Tensors& slots);
Call call_from(const Call& call, const Tensors& slots);

/// The mask with its tensors taken from the slots.
Mask mask_from(const Mask& mask, const Tensors& slots);

Tensors outs_of(const Attended& attended);
Attended attended_from(const Tensors& outs);

}  // namespace heed
