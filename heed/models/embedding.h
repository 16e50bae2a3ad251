// Embeddings of tokens, the first layer of a task model on text.

#pragma once

#include <torch/nn/modules/embedding.h>

#include "heed/base/recipe_keys.h"

namespace heed {

struct EmbeddingValues {
  int64_t dim = 256;
  double dropout = 0.1;
};
/// The keys below model.embedding.
const RecipeTable<EmbeddingValues>& embedding_keys();

/// Normally distributed rows of expected norm 1; that of padding, token 0, is 0 and stays so.
torch::nn::Embedding embedding_table(int64_t count, int64_t dim);

struct OutputValues {
  double dropout = 0;
};
/// The keys below model.output that are not of a component.
const RecipeTable<OutputValues>& output_dropout_keys();

}  // namespace heed
