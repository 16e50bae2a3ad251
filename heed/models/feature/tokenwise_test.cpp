// Features of each token alone, against plain sums.

#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "heed/data/recipe.h"
#include "heed/models/components.h"

namespace heed {
namespace {

std::shared_ptr<FeatureModel> tokenwise(int64_t in) {
  at::manual_seed(31);
  auto model = component<FeatureModel>(
      parse_recipe("features: {kind: tokenwise, dim: 5}", "small.yaml").at("features", kKindKey), "recurrent", in);
  model->build();
  model->eval();
  return model;
}

/// Two texts of 3 and 1 tokens; padding is NaN.
Features two_texts() {
  at::manual_seed(32);
  Features texts{at::randn({2, 3, 2}), at::tensor({1, 1, 1, 1, 0, 0}).view({2, 3}).to(at::kBool), /*real_first=*/true};
  texts.rows[1].narrow(0, 1, 2).fill_(NAN);
  return texts;
}

TEST(TokenwiseFeatures, AreTanhOfAnAffineMapOfEachToken) {
  const auto model = tokenwise(2);
  EXPECT_EQ(model->width(), 5);
  const Features texts = two_texts();
  const Tensor found = model->encode(texts, {}).encoded.features.rows;
  ASSERT_EQ(found.sizes(), (std::vector<int64_t>{2, 3, 5}));
  const auto parameters = model->named_parameters();
  const Tensor W = parameters["layer.weight"], b = parameters["layer.bias"];
  for (int64_t text = 0; text < 2; ++text)
    for (int64_t l = 0; l < (text == 0 ? 3 : 1); ++l)
      for (int64_t d = 0; d < 5; ++d) {
        double sum = b[d].item<double>();
        for (int64_t i = 0; i < 2; ++i) sum += W[d][i].item<double>() * texts.rows[text][l][i].item<double>();
        EXPECT_NEAR(found[text][l][d].item<double>(), std::tanh(sum), 1e-6) << text << l << d;
      }
}

TEST(TokenwiseFeatures, DoNotDependOnOtherTokens) {
  const auto model = tokenwise(2);
  Features texts = two_texts();
  const Tensor before = model->encode(texts, {}).encoded.features.rows[0][1].clone();
  texts.rows[0][0].add_(1);
  texts.rows[0][2].add_(1);
  EXPECT_TRUE(at::equal(model->encode(texts, {}).encoded.features.rows[0][1], before));
}

TEST(TokenwiseFeatures, AreZeroAtPaddingAndTheirSummaryIsTheMean) {
  const Encoded encoded = tokenwise(2)->encode(two_texts(), {}).encoded;
  EXPECT_EQ(encoded.features.rows[1].narrow(0, 1, 2).abs().max().item<double>(), 0);
  EXPECT_TRUE(at::allclose(encoded.last[0], encoded.features.rows[0].mean(0)));
  EXPECT_TRUE(at::allclose(encoded.last[1], encoded.features.rows[1][0]));
}

}  // namespace
}  // namespace heed
