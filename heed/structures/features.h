// Features of one input, and which of them are real.
//
//   a sequence     rows [B, L, D]              keep [B, L]
//   deeper levels  rows [B, S, L, D]           keep [B, S, L]       (documents of sentences of words, to any depth)
//
// keep is true where a feature is real. Padding may hold anything, NaN too.

#pragma once

#include <vector>

#include <torch/types.h>

#include "heed/attention/call.h"

namespace heed {

struct Features {
  Tensor rows{};
  Tensor keep{};  // bool, rows without the last axis; undefined: all are real

  int64_t width() const { return rows.size(-1); }
  int64_t batch() const { return rows.size(0); }
  int64_t length() const { return rows.size(-2); }

  /// The same with zeros where nothing is real, so that what stands in padding is gone before any product.
  Features without_padding() const;
  /// Other rows for the same positions.
  Features with_rows(const Tensor& other) const { return {other, keep}; }
};

/// The mean over real features [B, 1, D]; 0 where there is none. Each real feature gets the gradient 1/n.
Tensor mean(const Features& features);

/// bool [B]: whether there is any real feature.
Tensor any_real(const Features& features);

/// Items of different length side by side on a new first axis, the shorter ones padded: rows [L, D] become
/// [items, L, D], [S, L, D] become [items, S, L, D], and so on, level by level. An item may be empty.
Features padded(const std::vector<Features>& items);

/// The call for attention over these features: what is not real is masked, besides what the call masks.
Call over(const Call& call, const Features& features);

}  // namespace heed
