#include "heed/models/embedding.h"

#include <cmath>

#include "heed/models/components.h"

namespace heed {

const RecipeTable<EmbeddingValues>& embedding_keys() {
  static const RecipeTable<EmbeddingValues> keys{
      {"dim", &EmbeddingValues::dim, "width of the embeddings", {.min = 1, .max = kMaxWidth}},
      {"dropout", &EmbeddingValues::dropout, "dropout on the embeddings", {.min = 0, .max = 0.99}}};
  return keys;
}

torch::nn::Embedding embedding_table(int64_t count, int64_t dim) {
  torch::nn::Embedding table(torch::nn::EmbeddingOptions(count, dim).padding_idx(0));
  const torch::NoGradGuard no_grad;
  table->weight.normal_(0, 1 / std::sqrt(static_cast<double>(dim)));
  table->weight[0].zero_();
  return table;
}

const RecipeTable<OutputValues>& output_dropout_keys() {
  static const RecipeTable<OutputValues> keys{
      {"dropout",
       &OutputValues::dropout,
       "dropout before the output model",
       {.min = 0, .max = 0.99, .default_text = "that of model.embedding.dropout"}}};
  return keys;
}

}  // namespace heed
