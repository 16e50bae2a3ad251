#include "heed/attention/affine.h"

#include "heed/attention/testing.h"

namespace heed::testing {
namespace {

TEST(Affine, AgreesWithTorchsLinearForOneVectorAndForMany) {
  const auto weight = at::randn({3, 4}, kDouble).requires_grad_(), bias = at::randn({3}, kDouble).requires_grad_();
  for (const auto& shape : std::vector<std::vector<int64_t>>{{4}, {1, 4}, {1, 1, 4}, {2, 4}, {2, 3, 4}, {2, 0, 4}})
    for (const bool biased : {true, false}) {
      const auto x = at::randn(shape, kDouble).requires_grad_();
      const Tensor b = biased ? bias : Tensor();
      const auto found = affine(x, weight, b), expected = at::linear(x, weight, b);
      EXPECT_TRUE(close(found, expected, 1e-14));
      const std::vector<Tensor> leaves{x, weight, bias};
      const auto ours = gradients((found * waves(found)).sum(), leaves),
                 theirs = gradients((expected * waves(expected)).sum(), leaves);
      for (size_t i = 0; i < leaves.size(); ++i) EXPECT_TRUE(close(ours[i], theirs[i], 1e-14)) << i;
    }
}

}  // namespace
}  // namespace heed::testing
