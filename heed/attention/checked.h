// Inside: what a caller gave, checked once and brought into one form, for every path.

#pragma once

#include "heed/attention/call.h"
#include "heed/attention/composed.h"
#include "heed/attention/mechanism.h"

namespace heed {

/// Tensors have a head axis, keep is [B|1, H|1, Lq|1, Lk|1], sizes are known, the seed is drawn.
struct Checked {
  Tensor query, keys, values;
  Parameters parameters;
  Call call;
  Sizes sizes;
  bool heads = false;  // whether the caller's tensors had a head axis
};

Checked check_call(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& mechanism,
                   const Parameters& parameters, const Call& call);

/// The parts of it that a module with a memory needs by themselves. B, H, Lq, Lk as tensors have them.
struct CallSizes {
  int64_t rows = 0, heads = 0, queries = 0, keys = 0, width = 1;
};
Call check_extras(const Call& call, const Mechanism& mechanism, const CallSizes& sizes, const Tensor& like);

/// Zeroes what no one may attend, then projects: what the paths start from.
Prepared prepare(const Checked& checked, const Mechanism& mechanism);

/// The answer where there is no batch row, query or key. No part ever sees an axis of size 0: argmax
/// and gather would throw.
Attended empty_answer(const Checked& checked, const Mechanism& mechanism);

/// The path of a call, what was rejected and why, and what will be drawn. The one place where a path is chosen.
/// prepared_keys: where there are any already.
Plan plan_of(const Checked& checked, const Mechanism& mechanism, const Tensor& prepared_keys = {});

/// Fused or in blocks. Outputs have all axes.
Attended run_plan(const Plan& plan, const Prepared& prepared, const Mechanism& mechanism, const Parameters& parameters,
                  const Call& call);

/// Drops W where it is 1 by definition, and the head axis unless the caller had one.
Attended without_axes(Attended result, const Mechanism& mechanism, bool heads);

/// A tensor of floats on this device and type, like the query.
void check_like(const std::string& what, const Tensor& tensor, const Tensor& query);

/// "of this shape, where only axes of size 1 broadcast"
void check_spread(const std::string& what, const Tensor& tensor, const std::vector<int64_t>& shape);

}  // namespace heed
