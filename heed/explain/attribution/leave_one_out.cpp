// What the probability of the predicted class loses when the text is read without the token (Li et al., 2016). Signed:
// a token that speaks against the class is below 0. Of two classes, its absolute value is the total variation distance
// that Jain & Wallace take.

#include <ATen/ATen.h>

#include "heed/explain/attribution.h"
#include "heed/explain/predicted.h"

namespace heed {
namespace {

class LeaveOneOut final : public Attribution {
 public:
  explicit LeaveOneOut(const Options&) {}
  std::string why_not(const ExplainedFacts&) const override { return ""; }
  Tensor attribute(ExplainedBatch& batch, uint64_t) const override {
    std::vector<ErasedText> texts;
    for (int64_t b = 0; b < batch.size(); ++b)
      for (const int64_t slot : token_slots(batch, b)) texts.push_back({b, {slot}});
    const std::vector<ErasedOutput> found = read_erased(batch, texts, /*several=*/false);
    const Tensor rows = at::arange(batch.size(), batch.keep.options().dtype(at::kLong));
    const Tensor whole = answers_in(batch, rows, batch.outputs).to(at::kDouble).cpu();  // [B, P]
    const Tensor left = whole.unsqueeze(-1).repeat({1, 1, batch.tokens()}).contiguous();
    auto all = left.accessor<double, 3>();
    for (size_t i = 0; i < texts.size(); ++i)
      for (size_t p = 0; p < found[i].probability.size(); ++p)
        all[texts[i].row][static_cast<int64_t>(p)][texts[i].removed.front()] = found[i].probability[p];
    return without_padding(batch, (whole.unsqueeze(-1) - left).to(batch.outputs.options()));
  }
};

const Catalogue<Attribution>::Entry leave_one_out_entry{"leave_one_out",
                                                        make_part<Attribution, LeaveOneOut>,
                                                        {.formula = "p(y | x) - p(y | x without t)",
                                                         .paper = "Li et al., 2016",
                                                         .cost = "the text is read once for each token",
                                                         .choose = "what erasure measures, for one token",
                                                         .order = 6}};

}  // namespace
}  // namespace heed
