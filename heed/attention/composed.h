// Internal: runs a prepared call in blocks of batch elements x queries, each with all keys.

#pragma once

#include "heed/attention/align.h"
#include "heed/attention/call.h"
#include "heed/attention/mechanism.h"
#include "heed/attention/score.h"

namespace heed {

/// A call whose inputs are validated, masked and prepared by score and alignment.
struct Prepared {
  Tensor query, align_query;        // [B, H, Lq, *]: results of prepare_query of score and alignment
  Tensor keys, align_keys, values;  // [B, Hk or H, Lk, *]: results of prepare_keys of score and alignment; values
  Tensor kernel_keys;               // Score::kept_for_kernel of a memory, or undefined
  Reach reach;
};

/// Chooses the block sizes and estimates the workspace.
Plan plan_blocks(const Mechanism& mechanism, const Call& call, at::IntArrayRef query_shape, const Tensor& prepared_keys,
                 const Sizes& sizes, int64_t keys, int64_t element_size);

/// On the composed path (plan.path) each block is recomputed in backward, so only the inputs stay alive. On the stored
/// path there is one block, and autograd keeps its intermediates. Outputs have all axes.
Attended run_blocks(const Prepared& prepared, const Mechanism& mechanism, const Parameters& parameters,
                    const Call& call, const Plan& plan);

/// The `count` largest weights of each query and their keys, padded with 0 and -1. On ties the first key comes first.
std::pair<Tensor, Tensor> top_of(const Tensor& weights, int64_t count);

/// [B, Hk, L, D] -> [B, H, L, D]: head h reads key head h / (H / Hk).
Tensor repeat_heads(const Tensor& x, int64_t heads);

}  // namespace heed
