// A user-defined alignment: the Taylor softmax of docs/extending.md. A catalogue entry is enough: specs can name it,
// masks and gradients work, and it combines with every score. Expected:
//
//   weights 1/7, 5/7, 1/7     scores 0, 2, -2: t = 1, 5, 1
//   context 14.0              (1 * 7 + 5 * 14 + 1 * 21) / 7

#include <cmath>
#include <cstdio>

#include "heed/attend.h"
#include "heed/parts.h"

namespace {

// a_j = t(e_j) / sum t(e),   t(e) = 1 + e + e^2 / 2   (de Brebisson & Vincent, 2016)
class Taylor final : public heed::Alignment {
 public:
  explicit Taylor(const heed::Options&) {}

  heed::Aligned align(const heed::Parameters&, const heed::Scored& in) const override {
    const auto terms =
        (1 + in.scores + in.scores.square() / 2).masked_fill(in.keep.logical_not(), 0.0);  // [B, H, Lq, Lk, W]
    const auto sum = terms.sum(heed::kKeyAxis, /*keepdim=*/true);                          // [B, H, Lq, 1, W]
    heed::Aligned aligned;
    aligned.weights = terms / sum.masked_fill(sum == 0, 1.0);  // a query that keeps no key: 0 / 1, not 0 / 0
    return aligned;
  }
};

const heed::Catalogue<heed::Alignment>::Entry taylor_entry{"taylor",
                                                           heed::make_part<heed::Alignment, Taylor>,
                                                           {.formula = "t(e_j) / sum t(e), t(e) = 1 + e + e^2 / 2",
                                                            .paper = "de Brebisson & Vincent, 2016",
                                                            .cost = "Lq Lk",
                                                            .choose = "softmax without exp, for scores near 0"}};

}  // namespace

int main() {
  const auto query = at::ones({1, 1, 1}, at::kDouble);                                  // [B, Lq, Dq]
  const auto keys = at::tensor({0.0, 2.0, -2.0, 5.0}, at::kDouble).view({1, 4, 1});     // [B, Lk, Dk]
  const auto values = at::tensor({7.0, 14.0, 21.0, NAN}, at::kDouble).view({1, 4, 1});  // [B, Lk, Dv]
  heed::Call call;
  call.mask.key_count = at::tensor({3}, at::kLong);  // the last key is padding
  call.outputs.weights = true;
  const auto attended = heed::attend(query, keys, values, heed::Mechanism::parse("dot + taylor"), {}, call);
  const auto sevenths = attended.weights.flatten() * 7;
  std::printf("weights %.0f/7, %.0f/7, %.0f/7\n", sevenths[0].item<double>(), sevenths[1].item<double>(),
              sevenths[2].item<double>());
  std::printf("context %.1f\n", attended.context.item<double>());
  const bool shares = at::allclose(sevenths, at::tensor({1.0, 5.0, 1.0, 0.0}, at::kDouble), 0, 1e-12);
  return shares && std::abs(attended.context.item<double>() - 14) < 1e-12 ? 0 : 1;
}
