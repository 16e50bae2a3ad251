#include "heed/structures/query/capsule.h"

#include "heed/structures/testing_fixture.h"

namespace heed::testing {
namespace {

std::shared_ptr<Structure> golden() {
  auto made = in_double("capsule", {.features = {2}});
  set(*made, "query", {.5, -.5, -1, 1});
  set(*made, "to_probability", {.4, .3, -.2, .6});
  set(*made, "bias", {.1, -.1});
  return made;
}
Tensor classes(std::vector<int64_t> all) {
  return at::tensor(all, at::kLong);
}

TEST(Capsule, HasTheGoldenNumbers) {
  const auto out = golden()->forward({.features = {one_row(kF1, 2)}});
  EXPECT_TRUE(is_golden(out.also.at("probabilities"), {.63957647, .59363909}));
  EXPECT_TRUE(is_golden(out.also.at("similarities"), {.55736782, .49261299}));
  EXPECT_TRUE(is_golden(out.context, {.52040820, .31564353, .19872606, .54019342}));
  EXPECT_TRUE(is_golden(capsule_loss(out, classes({1})), {1.05534611}));
  EXPECT_TRUE(is_golden(capsule_loss(out, classes({1}), CapsuleLoss::paper), {2.11069222}));
}

TEST(Capsule, TakesTheMeanOverRealFeaturesOnly) {
  auto rows = at::cat({one_row(kF1, 2).rows, at::full({1, 2, 2}, NAN, kDouble)}, 1);
  const auto keep = at::tensor({1, 1, 1, 0, 0}).view({1, 5}).to(at::kBool);
  const auto out = golden()->forward({.features = {{rows, keep}}});
  EXPECT_TRUE(is_golden(out.also.at("similarities"), {.55736782, .49261299}));
}

TEST(Capsule, IsEmptyWhereNothingIsReal) {
  const auto out = golden()->forward({.features = {{at::full({1, 3, 2}, NAN, kDouble), at::zeros({1, 3}, at::kBool)}}});
  EXPECT_EQ(largest(out.context), 0);
  EXPECT_EQ(largest(out.also.at("similarities")), 0);
  EXPECT_TRUE(close(out.also.at("probabilities"), at::sigmoid(numbers({.1, -.1}, {1, 2})), 1e-12));
}

TEST(Capsule, IsPlainSelfAttentionForOneClass) {
  at::manual_seed(4);
  auto one = in_double("capsule(classes=1)", {.features = {3}});
  auto plain = in_double("self_attentive", {.features = {3}, .mechanism = "self_attentive(dot) + softmax"});
  const StructureInput given{.features = {{at::randn({2, 4, 3}, kDouble), {}}}};
  {
    const at::NoGradGuard no_grad;
    plain->named_parameters()["attend.score.query"].copy_(one->named_parameters()["query"]);
  }
  const auto out = one->forward(given);
  EXPECT_TRUE(close(out.step("attend").context, plain->forward(given).context, 1e-12));
}

/// Capsules with these numbers as probabilities and as similarities.
StructureOutput given_as(const Tensor& x) {
  StructureOutput made;
  made.also = {{"probabilities", x}, {"similarities", x}};
  return made;
}

// Two classes: (1/2) max(0, 1 - x_y + x_i) and max(0, 1 - x_y + x_i).
TEST(CapsuleLoss, OfTwoClassesIsThatOfThePaperUpToAFactor) {
  const auto out = given_as(numbers({.9, .2, .3, .4, .1, .8}, {3, 2}));
  const auto code = capsule_loss(out, classes({0, 1, 0})),
             paper = capsule_loss(out, classes({0, 1, 0}), CapsuleLoss::paper);
  EXPECT_TRUE(close(2 * code, paper, 1e-12));
}

// x = (.8, .3, .6), y = 0: code (.5 + .8) / 3, paper 1 - .8 + .3 + .6 = 1.1; both twice, for two hinges.
TEST(CapsuleLoss, OfThreeClassesIsNotThatOfThePaper) {
  const auto out = given_as(numbers({.8, .3, .6}, {1, 3}));
  EXPECT_NEAR(capsule_loss(out, classes({0})).item<double>(), 2 * 1.3 / 3, 1e-12);
  EXPECT_NEAR(capsule_loss(out, classes({0}), CapsuleLoss::paper).item<double>(), 2 * 1.1, 1e-12);
}

TEST(CapsuleLoss, IsTheHingeLossOfTorch) {
  at::manual_seed(1);
  const auto x = at::rand({4, 5}, kDouble);
  const auto y = classes({4, 0, 2, 2});
  EXPECT_TRUE(close(capsule_loss(given_as(x), y), 2 * at::multi_margin_loss(x, y), 1e-12));
}

// A loss that pulls all capsules to the mean feature would have gradients of the same sign for all classes.
TEST(CapsuleLoss, PushesCapsulesOfWrongClassesAway) {
  for (const auto form : {CapsuleLoss::code, CapsuleLoss::paper}) {
    auto out = given_as(numbers({.5, .4, .6}, {1, 3}));
    const auto similarities = numbers({.5, .4, .6}, {1, 3}).requires_grad_();
    out.also["similarities"] = similarities;
    const auto grads = gradients(capsule_loss(out, classes({1}), form), {similarities})[0];
    EXPECT_LT(grads[0][1].item<double>(), 0);
    EXPECT_GT(grads[0][0].item<double>(), 0);
    EXPECT_GT(grads[0][2].item<double>(), 0);
  }
}

TEST(CapsuleLoss, RefusesWhatIsNoClass) {
  const auto out = given_as(numbers({.5, .4, .6}, {1, 3}));
  EXPECT_THROW(capsule_loss(out, classes({3})), Error);
  EXPECT_THROW(capsule_loss(out, classes({-1})), Error);
  EXPECT_THROW(capsule_loss(out, classes({0, 1})), Error);
  EXPECT_THROW(capsule_loss(out, numbers({1}, {1})), Error);
  EXPECT_THROW(capsule_loss(StructureOutput{}, classes({0})), Error);
  EXPECT_THROW(structure("capsule(classes=0)", {.features = {2}}), Error);
}

}  // namespace
}  // namespace heed::testing
