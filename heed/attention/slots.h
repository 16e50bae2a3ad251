// Inside: the tensors of a prepared call as one list, and its answer as another. Autograd sees tensors only where they
// are handed over in lists; what a step captured besides would escape it.

#pragma once

#include "heed/attention/composed.h"
#include "heed/bridge/own_backward.h"

namespace heed {

/// What a path reads; the parameters follow.
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

/// What it returns.
enum Out { kContext, kWeights, kLse, kEntropy, kColumnMass, kTopWeights, kTopKeys, kLinks, kLogProbability, kOuts };

/// What remains of a call without the tensors of its slots.
struct Work {
  Mechanism mechanism;
  Parameters parameters;  // names and sizes
  Call call;
};
Work without_tensors(const Mechanism& mechanism, const Parameters& parameters, const Call& call);

Tensors slots_of(const Prepared& prepared, const Parameters& parameters, const Call& call);
/// The other way round. Of the reach there is only key_count.
Prepared prepared_from(const Tensors& slots);
Call call_from(const Call& call, const Tensors& slots);

/// The mask with the tensors of these slots.
Mask mask_from(const Mask& mask, const Tensors& slots);

Tensors outs_of(const Attended& attended);
Attended attended_from(const Tensors& outs);

}  // namespace heed
