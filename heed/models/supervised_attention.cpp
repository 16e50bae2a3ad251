#include "heed/models/supervised_attention.h"

#include <cmath>

#include <ATen/ATen.h>

namespace heed {
namespace {

constexpr const char *kCrossEntropy = "cross_entropy", *kSquaredError = "squared_error", *kSection = "supervision";

struct SupervisionValues {
  std::string loss = kCrossEntropy;
  double weight = 1;
  int64_t head = 0;
};

const RecipeTable<SupervisionValues> supervision_keys{
    {"loss",
     &SupervisionValues::loss,
     "distance of attention weights from gold",
     {.choices = {kCrossEntropy, kSquaredError}}},
    {"weight",
     &SupervisionValues::weight,
     "weight of this term of the loss; 0: attention is not supervised",
     {.min = 0,
      .default_text = "1 where the data has gold (`data.train_links`, `data.train_rationales`), otherwise 0"}},
    {"head", &SupervisionValues::head, "head that is supervised, from 1; 0: each of them", {.min = 0, .max = 1024}}};

const RecipeSection::Entry supervision_section{{"train.supervision", 42,
                                                "Supervised attention: gold weights as a second target.",
                                                [] { return supervision_keys.list(); }}};

}  // namespace

Supervision read_supervision(const Settings& train, bool has_gold) {
  const SupervisionValues v = supervision_keys.read(train.at(kSection), {.weight = has_gold ? 1.0 : 0.0});
  return {v.loss == kCrossEntropy ? SupervisionLoss::cross_entropy : SupervisionLoss::squared_error, v.weight, v.head};
}

Tensor link_cross_entropy(const Tensor& log_weights, const Tensor& gold) {
  return -(gold * log_weights.clamp_min(std::log(kLeastWeight))).sum();
}

Tensor link_squared_error(const Tensor& log_weights, const Tensor& gold, const Tensor& squares) {
  return squares.sum() - 2 * (gold * log_weights.exp()).sum() + gold.square().sum();
}

Tensor row_loss(SupervisionLoss loss, const Tensor& weights, const Tensor& gold) {
  if (loss == SupervisionLoss::cross_entropy) return -(gold * weights.clamp_min(kLeastWeight).log()).sum();
  const Tensor has_gold = gold.sum(-1, /*keepdim=*/true) > 0;
  return ((gold - weights) * has_gold).square().sum();
}

}  // namespace heed
