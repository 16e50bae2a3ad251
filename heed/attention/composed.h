// Inside: a call whose inputs are checked, masked and prepared, run in blocks of batch rows x queries,
// each against all keys.

#pragma once

#include "heed/attention/call.h"
#include "heed/attention/mechanism.h"

namespace heed {

struct Prepared {
  Tensor query, align_query;        // [B, H, Lq, *]: what score and alignment made of it
  Tensor keys, align_keys, values;  // [B, Hk or H, Lk, *]
  Tensor kernel_keys;               // what a memory keeps for kernels, or undefined
  Reach reach;
};

/// Sizes of the blocks and what they hold.
Plan plan_blocks(const Mechanism& mechanism, const Call& call, at::IntArrayRef query_shape, const Tensor& prepared_keys,
                 const Sizes& sizes, int64_t keys, int64_t element_size);

/// On the composed path (plan.path) each block is recomputed in backward, so what stays alive is the
/// inputs; on the stored path there is one block and autograd keeps it. Outputs have all axes.
Attended run_blocks(const Prepared& prepared, const Mechanism& mechanism, const Parameters& parameters,
                    const Call& call, const Plan& plan);

/// The `count` largest weights of each row and their keys, padded with 0 and -1. Equal ones: first key first.
std::pair<Tensor, Tensor> top_of(const Tensor& weights, int64_t count);

/// [B, Hk, L, D] -> [B, H, L, D]: head h reads key head h / (H / Hk).
Tensor repeat_heads(const Tensor& x, int64_t heads);

}  // namespace heed
