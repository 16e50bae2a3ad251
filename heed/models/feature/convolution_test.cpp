// Features of a convolution and the class token of a Transformer, against plain sums.

#include <cmath>

#include "heed/attention/testing.h"
#include "heed/data/recipe.h"
#include "heed/data/testing.h"
#include "heed/models/components.h"

namespace heed::testing {
namespace {

std::shared_ptr<FeatureModel> feature_model(const std::string& recipe, int64_t in) {
  at::manual_seed(21);
  auto model = component<FeatureModel>(
      parse_recipe("model: {features: " + recipe + "}", "small.yaml").at("model").at("features", kKindKey), "recurrent",
      in);
  model->build();
  model->eval();
  return model;
}

double activation_of(const std::string& name, double x) {
  if (name == "relu") return std::max(x, 0.0);
  return name == "elu" ? (x > 0 ? x : std::exp(x) - 1) : std::tanh(x);
}

/// Two texts of 4 and 2 tokens; padding is NaN.
Features two_texts(int64_t in) {
  at::manual_seed(22);
  Features features{at::randn({2, 4, in}), at::tensor({1, 1, 1, 1, 1, 1, 0, 0}).view({2, 4}).to(at::kBool),
                    /*real_first=*/true};
  features.rows[1].narrow(0, 2, 2).fill_(NAN);
  return features;
}

TEST(ConvolutionFeatures, AreSumsOverTheirNeighbors) {
  const Features texts = two_texts(3);
  for (const char* activation : {"relu", "elu", "tanh"}) {
    const auto model =
        feature_model(std::string("{kind: convolution, dim: 4, widths: [1, 3], activation: ") + activation + "}", 3);
    const Tensor found = model->encode(texts, {}).encoded.features.rows;
    const auto parameters = model->named_parameters();
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t l = 0; l < (b == 0 ? 4 : 2); ++l)
        for (int64_t d = 0; d < 4; ++d) {
          const int64_t layer = d / 2, width = layer == 0 ? 1 : 3;  // two features of each width
          const std::string name = "layers." + std::to_string(layer);
          const Tensor W = *parameters.find(name + ".weight"), bias = *parameters.find(name + ".bias");
          double sum = bias[d % 2].item<double>();
          for (int64_t o = 0; o < width; ++o) {
            const int64_t at = l + o - width / 2;
            if (at < 0 || at >= (b == 0 ? 4 : 2)) continue;  // beyond the text, padding as well
            for (int64_t i = 0; i < 3; ++i) sum += W[d % 2][i][o].item<double>() * texts.rows[b][at][i].item<double>();
          }
          EXPECT_NEAR(found[b][l][d].item<double>(), activation_of(activation, sum), 1e-5) << b << l << d;
        }
  }
}

TEST(ConvolutionFeatures, AreZeroAtPaddingAndTheirSummaryIsTheMean) {
  const auto model = feature_model("{kind: convolution, dim: 4, activation: tanh}", 3);
  const Encoded encoded = model->encode(two_texts(3), {}).encoded;
  EXPECT_EQ(largest(encoded.features.rows[1].narrow(0, 2, 2)), 0);
  EXPECT_TRUE(close(encoded.last[1], encoded.features.rows[1].narrow(0, 0, 2).mean(0), 1e-6));
}

TEST(ConvolutionFeatures, ReadTextsShorterThanTheirWidth) {
  const auto model = feature_model("{kind: convolution, dim: 4, widths: 9}", 3);
  EXPECT_EQ(model->encode({at::randn({1, 1, 3}), {}}, {}).encoded.features.rows.sizes(),
            (std::vector<int64_t>{1, 1, 4}));
}

TEST(ConvolutionFeatures, RefuseWidthsThatDoNotFit) {
  const auto refused = [](const std::string& keys) {
    return error_of([&] { feature_model("{kind: convolution, " + keys + "}", 3); });
  };
  EXPECT_TRUE(says(refused("widths: [3, 4]"), {"has '4', expected odd numbers"}));
  EXPECT_TRUE(says(refused("dim: 5, widths: [1, 3]"), {"expected a multiple of 2"}));
  EXPECT_TRUE(says(refused("widths: []"), {"is empty"}));
}

// One more token is read; the features are those of the text, as many as before, and the summary is that of the token.
TEST(TransformerFeatures, HaveTheFeatureOfTheClassTokenAsTheirSummary) {
  const auto model = feature_model("{kind: transformer, num_heads: 2, num_layers: 1, class_token: true}", 8);
  const Features texts = two_texts(8);
  Call call;
  call.outputs.weights = true;
  const FeatureOutput out = model->encode(texts, call);
  EXPECT_EQ(out.encoded.features.rows.sizes(), texts.rows.sizes());
  EXPECT_TRUE(at::equal(out.encoded.features.keep, texts.keep));
  const Tensor weights = out.steps.front().second.weights;  // [B, H, 1 + L, 1 + L]
  EXPECT_EQ(weights.sizes(), (std::vector<int64_t>{2, 2, 5, 5}));
  EXPECT_GT(weights[1].select(-1, 0).min().item<double>(), 0);  // the token is read by all,
  EXPECT_EQ(largest(weights[1].narrow(-1, 3, 2)), 0);           // padding by none
  const Encoded alone = model->encode({texts.rows.narrow(0, 1, 1).narrow(1, 0, 2), {}}, {}).encoded;
  EXPECT_TRUE(close(out.encoded.last[1], alone.last[0], 1e-5));
  EXPECT_TRUE(close(out.encoded.features.rows[1].narrow(0, 0, 2), alone.features.rows[0], 1e-5));
  EXPECT_FALSE(close(out.encoded.last[1], out.encoded.features.rows[1].narrow(0, 0, 2).mean(0), 1e-2));
}

TEST(TransformerFeatures, SummarizeAnEmptyTextByTheClassToken) {
  const auto model = feature_model("{kind: transformer, num_heads: 2, class_token: true}", 8);
  const Encoded empty = model->encode({at::zeros({1, 1, 8}), at::zeros({1, 1}, at::kBool)}, {}).encoded;
  EXPECT_TRUE(empty.last.isfinite().all().item<bool>());
  EXPECT_GT(largest(empty.last), 0);
}

}  // namespace
}  // namespace heed::testing
