// The same number for every token. Where an order is needed it is drawn, so this is a second random order.

#include <ATen/ATen.h>

#include "heed/explain/attribution.h"
#include "heed/explain/predicted.h"

namespace heed {
namespace {

class UniformWeights final : public Attribution {
 public:
  explicit UniformWeights(const Options&) {}
  std::string why_not(const ExplainedFacts&) const override { return ""; }
  Tensor attribute(ExplainedBatch& batch, uint64_t) const override {
    const Tensor weights = normalized(batch.keep.to(at::kFloat)).unsqueeze(1);
    return without_padding(batch, weights.expand({-1, batch.positions.size(1), -1}));
  }
};

const Catalogue<Attribution>::Entry uniform_attribution_entry{
    "uniform",
    make_part<Attribution, UniformWeights>,
    {.formula = "1 / T", .paper = "", .cost = "none", .choose = "no order at all", .order = 8}};

}  // namespace
}  // namespace heed
