// What feature and query models made of a Transformer's layers have in common: keys of the recipe, and positions.

#pragma once

#include "heed/base/settings.h"
#include "heed/structures/encode/transformer.h"

namespace heed {

/// layers, heads, feed_forward, dropout, norm, activation, mechanism (of self-attention), positions.
TransformerOptions read_transformer(const Settings& settings, int64_t width);

/// sqrt(D) x + PE, after dropout (Vaswani et al., 2017); x [B, L, D], whose first row stands at position `first`. With
/// rotary or alibi there is nothing to add.
Features with_positions(const Features& x, int64_t first, const TransformerOptions& options, bool training);

}  // namespace heed
