// The weights of the model, as they are.

#include "heed/explain/attribution.h"
#include "heed/explain/predicted.h"

namespace heed {
namespace {

class AttentionWeights final : public Attribution {
 public:
  explicit AttentionWeights(const Options&) {}
  std::string why_not(const ExplainedFacts& facts) const override {
    return facts.attends ? "" : "the model has no weights of tokens";
  }
  Tensor attribute(ExplainedBatch& batch, uint64_t) const override { return without_padding(batch, batch.weights); }
};

const Catalogue<Attribution>::Entry attention_entry{
    "attention",
    make_part<Attribution, AttentionWeights>,
    {.formula = "a_t", .paper = "Bahdanau et al., 2015", .cost = "none", .choose = "what is tested", .order = 1}};

}  // namespace
}  // namespace heed
