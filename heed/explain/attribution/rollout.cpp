// Weights of layers of self-attention, multiplied through the layers with half of each layer's output from its input
// (Abnar & Zuidema, 2020). The model computes it: ExplainedBatch::rollout().

#include "heed/explain/attribution.h"
#include "heed/explain/predicted.h"

namespace heed {
namespace {

class Rollout final : public Attribution {
 public:
  explicit Rollout(const Options&) {}
  std::string why_not(const ExplainedFacts& facts) const override {
    return facts.attends ? "" : "the model has no weights of tokens";
  }
  Tensor attribute(ExplainedBatch& batch, uint64_t) const override {
    const Tensor found = batch.rollout();
    return found.defined() ? without_padding(batch, found) : found;
  }
};

const Catalogue<Attribution>::Entry rollout_entry{"rollout",
                                                  make_part<Attribution, Rollout>,
                                                  {.formula = "product over layers of (A + I) / 2",
                                                   .paper = "Abnar & Zuidema, 2020",
                                                   .cost = "a product of matrices for each layer",
                                                   .choose = "models with layers of self-attention",
                                                   .order = 3}};

}  // namespace
}  // namespace heed
