// The face as functions: parameters are explicit, by name.

#pragma once

#include "heed/attention/call.h"
#include "heed/attention/mechanism.h"

namespace heed {

/// query [B, Lq, Dq], keys [B, Lk, Dk], values [B, Lk, Dv]; or with heads [B, H, Lq, Dq],
/// [B, Hk, Lk, Dk], [B, Hk, Lk, Dv], Hk a divisor of H: each key head serves H / Hk heads in a row.
/// An undefined query is for scores that learn their own. float or double, all of one type and device.
Attended attend(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& = {},
                const Parameters& = {}, const Call& = {});

/// The plan of that call, without running it.
Plan why(const Tensor& query, const Tensor& keys, const Tensor& values, const Mechanism& = {}, const Parameters& = {},
         const Call& = {});

/// torch's own signature and meaning, by our paths: attn_mask bool (true = may be attended) or added to
/// the scores; [..., L, E] with any leading axes; is_causal is top-left.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask = {}, double dropout_p = 0, bool is_causal = false,
                                    c10::optional<double> scale = c10::nullopt, bool enable_gqa = false);

}  // namespace heed
