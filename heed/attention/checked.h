// Internal: the arguments of a call, validated once and normalized to one form for all paths.

#pragma once

#include <string_view>

#include "heed/attention/call.h"
#include "heed/attention/composed.h"
#include "heed/attention/mechanism.h"

namespace heed {

/// A validated call: tensors have a head axis, keep is [B|1, H|1, Lq|1, Lk|1], sizes are known, the seed is chosen.
struct Checked {
  Tensor query, keys, values;
  Parameters parameters;
  Call call;
  Sizes sizes;
  bool heads = false;  // whether the caller's tensors had a head axis
};

Checked check_call(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
                   const Parameters& parameters, const Call& call);

/// B, H, Lq, Lk, W of a call.
struct CallSizes {
  int64_t rows = 0, heads = 0, queries = 0, keys = 0, width = 1;
};
/// Validates mask, bias, noise and requested outputs alone, for a module that attends a memory.
Call check_extras(const Call& call, const Mechanism& mechanism, const CallSizes& sizes, const Tensor& like);

/// Sets masked inputs to 0, then projects: the input of the composed and fused paths.
Prepared prepare(const Checked& checked, const Mechanism& mechanism);

/// The result of a call without batch elements, heads, queries or keys. Parts never see an axis of size 0, where argmax
/// and gather would throw.
Attended empty_answer(const Checked& checked, const Mechanism& mechanism);

/// The plan of a call. Paths are chosen here and nowhere else. prepared_keys: those of a memory, or undefined.
Plan plan_of(const Checked& checked, const Mechanism& mechanism, const Tensor& prepared_keys = {});

/// Runs the fused, composed or stored path. Outputs have all axes.
Attended run_plan(const Plan& plan, const Prepared& prepared, const Mechanism& mechanism, const Parameters& parameters,
                  const Call& call);

/// Removes the axis W of single-dimensional mechanisms, and the axis H unless `heads`.
Attended without_axes(Attended result, const Mechanism& mechanism, bool heads);

/// Checks that a tensor, if defined, has the type and device of the query.
void check_like(std::string_view what, const Tensor& tensor, const Tensor& query);

/// Checks that a tensor has this shape, up to axes of size 1.
void check_spread(std::string_view what, const Tensor& tensor, const std::vector<int64_t>& shape);

}  // namespace heed
