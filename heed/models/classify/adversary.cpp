#include "heed/models/classify/adversary.h"

#include <ATen/ATen.h>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr double kEpsilon = 1e-10;  // inside the logarithms of KL, as published codes have it
constexpr const char* kAdversaryKey = "train.adversary";

const RecipeTable<AdversaryOptions> adversary_keys{
    {"run",
     &AdversaryOptions::run,
     "folder of a run with the same data whose outputs this model is to give by other attention weights, in place of "
     "the labels (Wiegreffe & Pinter, 2019)",
     {.default_text = "none"}},
    {"lambda", &AdversaryOptions::lambda, "weight of the divergence of the attention weights in the loss", {.min = 0}}};

const RecipeSection::Entry adversary_section{
    {"train.adversary", 144, "The same outputs as another run by other attention weights: the loss is TVD - lambda KL.",
     [] { return adversary_keys.list(); }, "classify"}};

}  // namespace

AdversaryOptions read_adversary(const Settings& train) {
  return adversary_keys.read(train.at("adversary"));
}

Tensor output_distance(const Tensor& a, const Tensor& b, bool several) {
  const Tensor difference = (a - b).abs();
  return several ? difference.mean(-1) : 0.5 * difference.sum(-1);
}

Tensor weight_divergence(const Tensor& a, const Tensor& b) {
  return (a * ((a + kEpsilon).log() - (b + kEpsilon).log())).sum(-1);
}

Tensor weight_distance(const Tensor& a, const Tensor& b) {
  const Tensor sum = 0.5 * (a + b), middle = at::where(sum > 0, sum, at::ones_like(sum));
  const auto divergence = [&](const Tensor& x) {  // 0 log 0 = 0
    const Tensor ratio = at::where(x > 0, x / middle, at::ones_like(x));
    return (x * ratio.log()).sum(-1);
  };
  return 0.5 * (divergence(a) + divergence(b));
}

Tensor weight_shares(const Tensor& weights) {
  const Tensor sum = weights.sum(-1, /*keepdim=*/true);
  return weights / at::where(sum > 0, sum, at::ones_like(sum));
}

Adversary::Adversary(Classifier base, ClassificationModel& model, double lambda)
    : base_(std::move(base)),
      of_base_(base_.model(), kAdversaryKey),
      of_model_(model, kAdversaryKey),
      lambda_(lambda),
      several_(base_.labels().form == LabelForm::several) {
  check(base_.model().reads_documents() == model.reads_documents(), "recipe: ", kAdversaryKey, ".run is a model that ",
        base_.model().reads_documents() ? "reads" : "does not read", " documents, expected one like ",
        model.attention().to_string());
  for (auto& parameter : base_.model().parameters()) parameter.requires_grad_(false);
}

Adversary::Answer Adversary::base_answer(const TextBatch& batch) {
  const at::NoGradGuard no_grad;
  const Pooled pooled = base_.model().pool(batch, {}, outputs());
  return {base_.model().predict(pooled), weight_shares(of_base_.weights(pooled, batch).to(at::kFloat).flatten(1))};
}

Tensor Adversary::loss(ClassificationModel& model, const Pooled& pooled, const TextBatch& batch) {
  const Answer base = base_answer(batch);
  const Tensor weights = weight_shares(of_model_.weights(pooled, batch).to(at::kFloat).flatten(1));
  Tensor terms = output_distance(model.predict_dropped(pooled), base.outputs, several_);
  if (lambda_ > 0) terms = terms - lambda_ * weight_divergence(weights, base.weights);
  return terms.sum();
}

Adversary::Figures Adversary::figures(ClassificationModel& model, const TextBatch& batch) {
  const at::NoGradGuard no_grad;
  const Answer base = base_answer(batch);
  const Pooled pooled = model.pool(batch, {}, outputs());
  const Tensor weights = weight_shares(of_model_.weights(pooled, batch).to(at::kFloat).flatten(1));
  const Tensor tvd = output_distance(model.predict(pooled), base.outputs, several_);
  const Tensor terms = tvd - lambda_ * weight_divergence(weights, base.weights);
  return {.loss = terms.sum().item<double>(),
          .tvd = tvd.sum().item<double>(),
          .jsd = weight_distance(weights, base.weights).sum().item<double>()};
}

}  // namespace heed
