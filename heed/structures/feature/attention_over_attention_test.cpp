// Attention over attention.

#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

const std::vector<double> kGoldenShares{.37994301, .17589184, .44416515};

std::shared_ptr<Structure> over_attention(const std::string& alignment = "") {
  return in_double("attention_over_attention", {.features = {2}, .mechanism = alignment});
}

TEST(AttentionOverAttention, GivesTheGoldenNumbers) {
  const auto out = over_attention()->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}});
  EXPECT_TRUE(is_golden(out.step("to_question").weights.mean(1), {.22638970, .77361030}));  // b
  EXPECT_TRUE(is_golden(out.also.at("distribution"), kGoldenShares));
  EXPECT_TRUE(is_golden(out.context, {.37994301 + .44416515, .17589184 + .44416515}));
}

TEST(AttentionOverAttention, AveragesOverRealWordsOfTheDocument) {
  Features document = one_row({1, 0, NAN, NAN, 0, 1, 1, 1, 4, 4}, 2);
  document.keep = at::tensor({1, 0, 1, 1, 0}).to(at::kBool).view({1, 5});
  const auto out = over_attention()->forward({.features = {document, one_row(kF2, 2)}});
  EXPECT_TRUE(is_golden(out.also.at("distribution"), {.37994301, 0, .17589184, .44416515, 0}));
  EXPECT_TRUE(is_golden(out.context, {.37994301 + .44416515, .17589184 + .44416515}));
}

TEST(AttentionOverAttention, ReadsTheDocumentByItsDistribution) {
  at::manual_seed(4);
  const auto document = at::randn({3, 6, 2}, kDouble), question = at::randn({3, 4, 2}, kDouble);
  for (const char* alignment : {"softmax", "sparsemax", "sigmoid"}) {
    const auto out = over_attention(alignment)->forward({.features = {{document}, {question}}});
    EXPECT_TRUE(close(out.also.at("distribution").unsqueeze(1).matmul(document), out.context)) << alignment;
  }
}

TEST(AttentionOverAttention, HasItsDistributionWhateverOutputsAreRequested) {
  const Call call{.outputs = {.weights = true, .rows = {0}}};
  const auto out = over_attention()->forward({.features = {one_row(kF1, 2), one_row(kF2, 2)}, .call = call});
  EXPECT_TRUE(is_golden(out.also.at("distribution"), kGoldenShares));
}

TEST(AttentionOverAttention, LearnsFromItsDistributionInFloat) {
  at::manual_seed(1);
  const auto made = structure("attention_over_attention", {.features = {4}});
  const auto document = at::randn({2, 5, 4}), question = at::randn({2, 3, 4});
  const auto grad = [&](at::ScalarType type) {
    const auto x = document.to(type, /*non_blocking=*/false, /*copy=*/true).requires_grad_();
    const auto s = made->forward({.features = {{x}, {question.to(type)}}}).also.at("distribution");
    return gradients((s * waves(s)).sum(), {x})[0];
  };
  EXPECT_TRUE(close(grad(at::kFloat), grad(at::kDouble), 2e-5));
  EXPECT_GT(largest(grad(at::kFloat)), 1e-2);
}

TEST(AttentionOverAttention, GivesNothingWhereEitherInputIsEmpty) {
  const auto made = over_attention();
  const auto asked = made->forward({.features = {one_row(kF1, 2), kNone}});
  EXPECT_TRUE(same_bits(asked.context, at::zeros({1, 1, 2}, kDouble)));
  EXPECT_TRUE(same_bits(asked.also.at("distribution"), at::zeros({1, 3}, kDouble)));
  const auto asking = made->forward({.features = {kNone, one_row(kF2, 2)}});
  EXPECT_TRUE(same_bits(asking.context, at::zeros({1, 1, 2}, kDouble)));
  EXPECT_EQ(asking.also.at("distribution").sizes(), (std::vector<int64_t>{1, 0}));
}

TEST(AttentionOverAttention, RequiresInputsOfOneWidth) {
  EXPECT_THROW(structure("attention_over_attention", {.features = {2, 3}}), Error);
}

}  // namespace
}  // namespace heed::testing
