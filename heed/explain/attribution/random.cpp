// Drawn numbers: what any explanation must beat. They depend on seed, item, position and token alone.

#include <ATen/ATen.h>

#include "heed/explain/attribution.h"
#include "heed/explain/predicted.h"

namespace heed {
namespace {

class RandomWeights final : public Attribution {
 public:
  explicit RandomWeights(const Options&) {}
  std::string why_not(const ExplainedFacts&) const override { return ""; }
  Tensor attribute(ExplainedBatch& batch, uint64_t seed) const override {
    const int64_t P = batch.positions.size(1);
    const Tensor all = at::zeros({batch.size(), P, batch.tokens()}, at::kFloat);
    auto drawn = all.accessor<float, 3>();
    for (int64_t b = 0; b < batch.size(); ++b) {
      const std::vector<int64_t> slots = token_slots(batch, b);
      for (int64_t p = 0; p < P; ++p) {
        const auto numbers =
            drawn_numbers(DrawnFor::attribution, seed, batch.items[static_cast<size_t>(b)], p, std::ssize(slots));
        for (size_t i = 0; i < slots.size(); ++i) drawn[b][p][slots[i]] = static_cast<float>(numbers[i]);
      }
    }
    return without_padding(batch, all.to(batch.outputs.device()));
  }
};

const Catalogue<Attribution>::Entry random_entry{
    "random",
    make_part<Attribution, RandomWeights>,
    {.formula = "u ~ U(0, 1)", .paper = "", .cost = "none", .choose = "what must be beaten", .order = 7}};

}  // namespace
}  // namespace heed
