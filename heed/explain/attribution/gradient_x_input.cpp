// How much the probability of the predicted class changes with the length of a token's embedding, to first order. The
// weights have their gradient here: what is compared with attention is the whole model, not the model with attention
// taken out, as in the test of Jain & Wallace.

#include <ATen/ATen.h>

#include "heed/explain/attribution.h"
#include "heed/explain/predicted.h"

namespace heed {
namespace {

class GradientTimesInput final : public Attribution {
 public:
  explicit GradientTimesInput(const Options&) {}
  std::string why_not(const ExplainedFacts&) const override { return ""; }
  Tensor attribute(ExplainedBatch& batch, uint64_t) const override {
    const Tensor embedded = batch.embedded();
    const Tensor rows = at::arange(batch.size(), embedded.options().dtype(at::kLong));
    return without_padding(batch, gradients_along(batch, rows, embedded, embedded).abs());
  }
};

const Catalogue<Attribution>::Entry gradient_x_input_entry{"gradient_x_input",
                                                           make_part<Attribution, GradientTimesInput>,
                                                           {.formula = "|dp(y)/dx_t . x_t|",
                                                            .paper = "Simonyan et al., 2014",
                                                            .cost = "one backward for each position",
                                                            .choose = "a baseline that is cheap",
                                                            .order = 4}};

}  // namespace
}  // namespace heed
