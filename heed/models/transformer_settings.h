// Shared by the feature and query models with Transformer layers: keys of the recipe, and position encodings.

#pragma once

#include "heed/base/recipe_keys.h"
#include "heed/structures/encode/transformer.h"

namespace heed {

/// The keys of Transformer layers.
RecipeKeyList transformer_keys();

/// Reads these keys.
TransformerOptions read_transformer(const Settings& settings, int64_t width);

/// dropout(sqrt(D) x + PE) (Vaswani et al., 2017); x [B, L, D], positions [L, D]: the encodings of its positions. With
/// rotary or alibi, PE is left out.
Features with_positions(const Features& x, const Tensor& positions, const TransformerOptions& options, bool training);
/// The same from position 0.
Features with_positions(const Features& x, const TransformerOptions& options, bool training);
/// PE of the first `count` positions [count, D], of the width, type and device of `like` [..., D].
Tensor positions_before(int64_t count, const Tensor& like);

}  // namespace heed
