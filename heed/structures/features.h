// Features: the vectors of one input, and a mask that marks padding.
//
//   sequence       rows [B, L, D]              keep [B, L]
//   nested levels  rows [B, S, L, D]           keep [B, S, L]       (documents of sentences of words, to any depth)
//
// keep is true for a real feature and false for padding. Padding may hold any value, including NaN.

#pragma once

#include <vector>

#include <torch/types.h>

#include "heed/call.h"

namespace heed {

struct Features {
  Tensor rows{};
  Tensor keep{};            // bool, shape of rows without the last axis; undefined: there is no padding
  bool real_first = false;  // known on the host: no padding precedes a real feature. Looking would wait for a GPU

  int64_t width() const { return rows.size(-1); }
  int64_t batch() const { return rows.size(0); }
  int64_t length() const { return rows.size(-2); }

  /// A copy with zeros at padding, so that NaN in padding reaches no product.
  Features without_padding() const;
  /// Other vectors with the same keep.
  Features with_rows(const Tensor& other) const { return {other, keep, real_first}; }
};

/// Mean of the real features [B, 1, D]; 0 if there are none. Each of n real features gets 1/n of the gradient.
Tensor mean(const Features& features);

/// bool [B]: whether a batch element has any real feature.
Tensor any_real(const Features& features);

/// Stacks items of different length on a new first axis and pads the shorter ones: rows [L, D] become [items, L, D],
/// [S, L, D] become [items, S, L, D], and so on for every level. An item may be empty. Throws Error if the items differ
/// in width or number of axes.
Features padded(const std::vector<Features>& items);

/// The call for attention over these features: adds their padding to the mask of the call.
Call over(const Call& call, const Features& features);

}  // namespace heed
