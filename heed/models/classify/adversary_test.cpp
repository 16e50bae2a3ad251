// The loss of a trained adversary: against plain sums, and its gradient by finite differences.

#include "heed/models/classify/adversary.h"

#include <cmath>

#include <gtest/gtest.h>

#include "heed/data/testing.h"
#include "heed/models/classify/testing_classifier.h"
#include "heed/models/classify/text_weights.h"

namespace heed::testing {
namespace {

const std::vector<std::vector<std::string>> kJudgedTexts{{"the film was good"}, {"no"}, {"bad end good soup was"}};

Tensor row(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).unsqueeze(0);
}

TEST(AdversaryDistances, HaveTheValuesOfTheirFormulas) {
  const Tensor p = row({0.7, 0.2, 0.1}), q = row({0.1, 0.2, 0.7});
  EXPECT_NEAR(output_distance(p, q, false).item<double>(), 0.6, 1e-12);
  EXPECT_NEAR(output_distance(p, q, true).item<double>(), 0.4, 1e-12);
  EXPECT_NEAR(weight_divergence(p, q).item<double>(), 1.16754609, 1e-8);
  EXPECT_NEAR(weight_distance(p, q).item<double>(), 0.25310162, 1e-8);
  EXPECT_NEAR(weight_distance(row({1, 0}), row({0, 1})).item<double>(), std::log(2.0), 1e-12);
}

TEST(AdversaryDistances, AreFiniteForSparseWeights) {
  Tensor a = row({0.5, 0.5, 0, 0}).requires_grad_();
  const Tensor b = row({0, 1, 0, 0});
  const Tensor divergence = weight_divergence(a, b).sum();
  EXPECT_NEAR(divergence.item<double>(), 0.5 * std::log(0.5 / 1e-10) + 0.5 * std::log(0.5), 1e-6);
  divergence.backward();
  EXPECT_TRUE(a.grad().isfinite().all().item<bool>());
  EXPECT_EQ(weight_shares(row({0, 0})).abs().sum().item<double>(), 0);
  EXPECT_TRUE(at::allclose(weight_shares(row({0.5, 1.5})), row({0.25, 0.75})));
  const Tensor none = row({0, 0}).requires_grad_();
  (weight_divergence(weight_shares(none), row({1, 0})).sum() + weight_distance(none, row({1, 0})).sum()).backward();
  EXPECT_TRUE(none.grad().isfinite().all().item<bool>());
}

// y and alpha are those that `heed classify` shows.
TEST(Adversary, HasTheLossOfItsFormula) {
  for (const char* const attention : {"additive + softmax", "additive + sparsemax", "additive + sigmoid"})
    for (const LabelForm form : {LabelForm::one, LabelForm::several}) {
      SmallClassifier small{.model = std::string("attention: ") + attention, .form = form};
      if (form == LabelForm::several) small.model += ", output: sigmoid";
      Classifier base = small_classifier(small), a = small_classifier(small);
      {
        const at::NoGradGuard no_grad;
        at::manual_seed(11);
        for (auto& parameter : a.model().parameters()) parameter.add_(at::randn_like(parameter) * 0.3);
      }
      constexpr double kLambda = 0.05;
      double wanted = 0, tvd = 0, jsd = 0;
      const auto of_a = a.predict(kJudgedTexts), of_base = base.predict(kJudgedTexts);
      for (size_t i = 0; i < kJudgedTexts.size(); ++i) {
        double distance = 0;
        for (size_t c = 0; c < 3; ++c) distance += std::abs(of_a[i].probabilities[c] - of_base[i].probabilities[c]);
        distance *= form == LabelForm::several ? 1.0 / 3 : 0.5;
        auto x = word_weights(text_weights(a, kJudgedTexts[i]), "text"),
             y = word_weights(text_weights(base, kJudgedTexts[i]), "text");
        double sum_x = 0, sum_y = 0, divergence = 0, shannon = 0;
        for (size_t t = 0; t < x.size(); ++t) {
          sum_x += x[t];
          sum_y += y[t];
        }
        for (size_t t = 0; t < x.size(); ++t) {
          const double p = x[t] / sum_x, q = y[t] / sum_y, m = (p + q) / 2;
          divergence += p * std::log((p + 1e-10) / (q + 1e-10));
          shannon += (p > 0 ? p * std::log(p / m) / 2 : 0) + (q > 0 ? q * std::log(q / m) / 2 : 0);
        }
        wanted += distance - kLambda * divergence;
        tvd += distance;
        jsd += shannon;
      }
      const TextBatch batch = batch_of(a, kJudgedTexts);
      Adversary adversary(base, a.model(), kLambda);
      const Pooled pooled = a.model().pool(batch, {}, Adversary::outputs());
      EXPECT_NEAR(adversary.loss(a.model(), pooled, batch).item<double>(), wanted, 2e-5) << attention;
      const auto figures = adversary.figures(a.model(), batch);
      EXPECT_NEAR(figures.loss, wanted, 2e-5) << attention;
      EXPECT_NEAR(figures.tvd, tvd, 1e-5) << attention;
      EXPECT_NEAR(figures.jsd, jsd, 1e-5) << attention;
      EXPECT_GT(tvd, 1e-2);
      EXPECT_GT(jsd, 1e-3);
    }
}

TEST(Adversary, OfItselfHasNoLossAndChangesNothing) {
  Classifier base = small_classifier({}), a = small_classifier({});
  Adversary adversary(base, a.model(), 0.5);
  const auto figures = adversary.figures(a.model(), batch_of(a, kJudgedTexts));
  EXPECT_EQ(figures.tvd, 0);
  EXPECT_NEAR(figures.loss, 0, 1e-9);
  EXPECT_NEAR(figures.jsd, 0, 1e-9);
}

TEST(Adversary, HasTheGradientOfFiniteDifferences) {
  Classifier base = small_classifier({}), a = small_classifier({});
  a.model().to(at::kDouble);
  at::manual_seed(12);
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : a.model().parameters()) parameter.add_(at::randn_like(parameter) * 0.3);
  }
  const TextBatch batch = batch_of(a, kJudgedTexts);
  Adversary adversary(base, a.model(), 0.2);
  const auto loss = [&] { return adversary.loss(a.model(), a.model().pool(batch, {}, Adversary::outputs()), batch); };
  loss().backward();
  for (const auto& item : a.model().named_parameters()) {
    const Tensor& parameter = item.value();
    if (!parameter.grad().defined()) continue;
    Tensor direction = at::randn_like(parameter);
    direction.div_(direction.norm());
    const double expected = (parameter.grad() * direction).sum().item<double>();
    constexpr double kStep = 1e-3;  // predictions and weights are rounded to float
    const at::NoGradGuard no_grad;
    parameter.add_(direction, kStep);
    const double after = loss().item<double>();
    parameter.sub_(direction, 2 * kStep);
    const double before = loss().item<double>();
    parameter.add_(direction, kStep);
    EXPECT_NEAR((after - before) / (2 * kStep), expected, 2e-3 + 0.01 * std::abs(expected)) << item.key();
  }
  for (const auto& parameter : base.model().parameters()) EXPECT_FALSE(parameter.grad().defined());
}

TEST(Adversary, OfADocumentComparesTheProductsOfLevels) {
  const SmallClassifier small{.model = "attention: {preset: yang_2016}", .sentences = "tab"};
  Classifier base = small_classifier(small), a = small_classifier(small);
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : a.model().parameters()) parameter.add_(at::randn_like(parameter) * 0.3);
  }
  const std::vector<std::vector<std::string>> texts{{"bad end\tgood soup was"}};
  const auto x = word_weights(text_weights(a, texts[0]), "text"),
             y = word_weights(text_weights(base, texts[0]), "text");
  double divergence = 0;
  for (size_t t = 0; t < x.size(); ++t) divergence += x[t] * std::log(x[t] / y[t]);
  const TextBatch batch = batch_of(a, texts);
  const auto with = Adversary(base, a.model(), 1).figures(a.model(), batch);
  EXPECT_NEAR(with.tvd - with.loss, divergence, 1e-4);
  EXPECT_GT(divergence, 1e-4);
}

}  // namespace
}  // namespace heed::testing
