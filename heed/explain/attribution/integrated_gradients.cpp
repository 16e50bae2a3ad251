// Gradients along the line from embeddings of 0 to those of the text, times embeddings (Sundararajan et al., 2017):
//
//   IG_t = x_t . 1/n sum_k dp(y)/dx_t ((k + 1/2) / n x),   k = 0 ... n - 1
//
// The midpoint rule in place of the integral: for many steps sum_t IG_t is p(y | x) - p(y | 0), which no other baseline
// promises. Signed: a token that speaks against the predicted class is below 0.

#include <algorithm>

#include <ATen/ATen.h>

#include "heed/base/check.h"
#include "heed/explain/attribution.h"
#include "heed/explain/predicted.h"

namespace heed {
namespace {

class IntegratedGradients final : public Attribution {
 public:
  explicit IntegratedGradients(const Options& options) : steps_(options.integer("steps", 20)) {
    check(steps_ >= 1, "attribution/integrated_gradients: got steps = ", steps_, ", expected at least 1");
  }
  std::string why_not(const ExplainedFacts&) const override { return ""; }
  Tensor attribute(ExplainedBatch& batch, uint64_t) const override {
    const Tensor embedded = batch.embedded();
    const int64_t B = batch.size(), T = std::max<int64_t>(1, batch.tokens());
    const Tensor rows = at::arange(B, embedded.options().dtype(at::kLong));
    const int64_t at_once = std::clamp<int64_t>(kTokensAtOnce / std::max<int64_t>(1, B * T), 1, steps_);
    Tensor sum = at::zeros({B, batch.positions.size(1), batch.tokens()}, embedded.options().dtype(at::kFloat));
    for (int64_t first = 0; first < steps_; first += at_once) {
      const int64_t count = std::min(at_once, steps_ - first);
      const Tensor scale = (at::arange(first, first + count, embedded.options()) + 0.5) / static_cast<double>(steps_);
      const Tensor points = (scale.view({-1, 1, 1, 1}) * embedded).flatten(0, 1);  // [count B, T, D]
      const Tensor found = gradients_along(batch, rows.repeat({count}), points, embedded.repeat({count, 1, 1}));
      sum = sum + found.view({count, B, found.size(1), found.size(2)}).sum(0);
    }
    return without_padding(batch, sum / static_cast<double>(steps_));
  }

 private:
  static constexpr int64_t kTokensAtOnce = 8192;  // of all steps that are computed together

  int64_t steps_;
};

const Catalogue<Attribution>::Entry integrated_gradients_entry{"integrated_gradients",
                                                               make_part<Attribution, IntegratedGradients>,
                                                               {.formula = "x_t . mean of dp(y)/dx_t from 0 to x",
                                                                .paper = "Sundararajan et al., 2017",
                                                                .cost = "a forward and a backward for each of 20 steps",
                                                                .choose = "a baseline whose sum is the probability",
                                                                .order = 5}};

}  // namespace
}  // namespace heed
