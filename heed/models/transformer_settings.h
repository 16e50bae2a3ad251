// Shared by the feature and query models with Transformer layers: keys of the recipe, and position encodings.

#pragma once

#include "heed/base/recipe_keys.h"
#include "heed/structures/encode/transformer.h"

namespace heed {

/// The keys of Transformer layers.
RecipeKeyList transformer_keys();

/// Reads these keys.
TransformerOptions read_transformer(const Settings& settings, int64_t width);

/// dropout(sqrt(D) x + PE) (Vaswani et al., 2017); x [B, L, D], which starts at position `first`. With rotary or alibi,
/// PE is left out.
Features with_positions(const Features& x, int64_t first, const TransformerOptions& options, bool training);

}  // namespace heed
