// A large weight on a value that is nearly 0 adds nothing to the context: weights times the norms of the values that
// they multiply (Kobayashi et al., 2020; here without the output projection).

#include "heed/explain/attribution.h"
#include "heed/explain/predicted.h"

namespace heed {
namespace {

class AttentionValueNorm final : public Attribution {
 public:
  explicit AttentionValueNorm(const Options&) {}
  std::string why_not(const ExplainedFacts& facts) const override {
    return facts.attends ? "" : "the model has no weights of tokens";
  }
  Tensor attribute(ExplainedBatch& batch, uint64_t) const override {
    return without_padding(batch, batch.weights * batch.value_norms().unsqueeze(1));
  }
};

const Catalogue<Attribution>::Entry attention_value_norm_entry{"attention_value_norm",
                                                               make_part<Attribution, AttentionValueNorm>,
                                                               {.formula = "a_t |v_t|",
                                                                .paper = "Kobayashi et al., 2020",
                                                                .cost = "none",
                                                                .choose = "values differ in size",
                                                                .order = 2}};

}  // namespace
}  // namespace heed
