// Attention as functions, with parameters passed by name.

#pragma once

#include <c10/util/Optional.h>

#include "heed/attention/mechanism.h"
#include "heed/call.h"

namespace heed {

/// query [B, Lq, Dq], keys [B, Lk, Dk], values [B, Lk, Dv]; or with heads [B, H, Lq, Dq], [B, Hk, Lk, Dk],
/// [B, Hk, Lk, Dv] with Hk a divisor of H: each key head is shared by H / Hk consecutive query heads.
/// query may be undefined for scores that learn their own queries. All tensors are float or double, of one type and on
/// one device. Parameters are those of Mechanism::parameters(). Throws Error if an input does not fit.
Attended attend(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& = {},
                const Parameters& = {}, const Call& = {});

/// The plan of the same call, without running it: path, kernel, and reasons why other paths are rejected. If attend()
/// would refuse the requested path, Plan::refused says why; like attend(), it throws if an input does not fit.
Plan why(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& = {}, const Parameters& = {},
         const Call& = {});

/// torch's function of that name on the paths of this library. Tensors are [..., L, E] with any leading axes;
/// attn_mask is bool (true = may be attended) or is added to the scores; is_causal is top-left.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask = {}, double dropout_p = 0, bool is_causal = false,
                                    c10::optional<double> scale = c10::nullopt, bool enable_gqa = false);

}  // namespace heed
