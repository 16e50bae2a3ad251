#include "heed/explain/adversarial_search.h"

#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <torch/autograd.h>

#include "heed/base/philox.h"
#include "heed/explain/measured_text.h"

namespace heed {
namespace {

constexpr double kPenalty = 500, kSpread = 3;
constexpr double kInsideLogarithms = 1e-10;  // of the published code
constexpr uint64_t kFirstWeights = 9412;     // stream of random numbers

/// [..]: of distributions [.., T].
Tensor divergence(const Tensor& p, const Tensor& q) {
  const Tensor m = (p + q) / 2;
  const auto to_middle = [&](const Tensor& one) {
    return (one * ((one + kInsideLogarithms).log() - (m + kInsideLogarithms).log())).sum(-1);
  };
  return (to_middle(p) + to_middle(q)) / 2;
}

/// log(p / m), m = (p + q) / 2.
Tensor log_to_middle(const Tensor& p, const Tensor& q) {
  return ((p + kInsideLogarithms) / ((p + q) / 2 + kInsideLogarithms)).log();
}

Tensor excess(const Tensor& outputs, const Tensor& own_outputs, const Tensor& positions, double epsilon) {
  const Tensor change = (outputs - own_outputs.unsqueeze(1)).abs().sum(-1);  // [M, k, P]
  return (change - epsilon).clamp_min(0).masked_fill(positions.logical_not().unsqueeze(1), 0);
}

/// log(1 / tokens) + 3 N(0, 1) for one text and distribution, by Box & Muller (1958).
std::vector<float> first_logits(uint64_t seed, size_t item, int64_t use, int64_t tokens) {
  constexpr double kPi = 3.14159265358979323846;
  std::vector<float> drawn(static_cast<size_t>(2 * tokens)), logits;
  uniforms(seed, kFirstWeights, kPolicy, static_cast<uint32_t>(item), static_cast<uint32_t>(use), 2 * tokens,
           drawn.data());
  for (size_t t = 0; t < static_cast<size_t>(tokens); ++t) {
    const double radius = std::sqrt(-2 * std::log(static_cast<double>(drawn[2 * t])));
    const double normal = radius * std::cos(2 * kPi * static_cast<double>(drawn[2 * t + 1]));
    logits.push_back(static_cast<float>(kSpread * normal - std::log(static_cast<double>(tokens))));
  }
  return logits;
}

}  // namespace

Tensor adversarial_loss(const Tensor& weights, const Tensor& own, const Tensor& outputs, const Tensor& own_outputs,
                        const Tensor& positions, double epsilon) {
  const Tensor hidden = positions.logical_not();
  const Tensor from_own = divergence(weights, own.unsqueeze(1)).masked_fill(hidden.unsqueeze(1), 0);
  const Tensor between = divergence(weights.unsqueeze(1), weights.unsqueeze(2))  // [M, k, k, P]
                             .masked_fill(hidden.unsqueeze(1).unsqueeze(1), 0);
  const auto pairs = static_cast<double>(weights.size(1) * weights.size(1));
  return kPenalty * excess(outputs, own_outputs, positions, epsilon).sum() - from_own.sum() - between.sum() / pairs;
}

Tensor divergence_gradient(const Tensor& weights, const Tensor& own) {
  const auto count = static_cast<double>(weights.size(1));
  const Tensor between =
      log_to_middle(weights.unsqueeze(2), weights.unsqueeze(1)).sum(2);  // each one's, over the others
  return log_to_middle(weights, own.unsqueeze(1)).div_(-2).sub_(between, 1 / (count * count));
}

void AmsgradAdam::step(Tensor values, const Tensor& gradient) {
  constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kNoDivision = 1e-8;
  if (steps_ == 0) {
    mean_ = at::zeros_like(values);
    square_ = at::zeros_like(values);
    max_square_ = at::zeros_like(values);
  }
  ++steps_;
  mean_.mul_(kBeta1).add_(gradient, 1 - kBeta1);
  square_.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
  at::maximum_out(max_square_, max_square_, square_);
  const double correction = 1 - std::pow(kBeta1, static_cast<double>(steps_));
  const double square_correction = 1 - std::pow(kBeta2, static_cast<double>(steps_));
  const Tensor divisor = max_square_.sqrt().div_(std::sqrt(square_correction)).add_(kNoDivision);
  values.addcdiv_(mean_, divisor, -rate_ / correction);
}

AdversarialWeights adversarial_weights(ExplainedBatch& batch, const ExplainedFacts& facts,
                                       const std::vector<int64_t>& rows, const Tensor& own, const Tensor& positions,
                                       uint64_t seed, const AdversarialOptions& options) {
  const int64_t M = std::ssize(rows), k = options.distributions, P = own.size(1), T = own.size(2);
  const at::Device device = batch.keep.device();
  const Tensor chosen = at::tensor(rows, at::kLong).to(device);
  const Tensor repeated = chosen.repeat_interleave(k);  // [N], N = M k
  const Tensor kept = batch.keep.index_select(0, chosen).view({M, 1, 1, T});
  const Tensor sums = batch.weights.index_select(0, chosen).sum(-1);
  const Tensor scale = at::where(positions, sums, at::ones_like(sums)).view({M, 1, P, 1});  // without NaN
  const Tensor whole_outputs = batch.outputs.index_select(0, chosen);
  const Tensor own_outputs = at::where(positions.unsqueeze(-1), whole_outputs, at::zeros_like(whole_outputs));

  Tensor logits = at::zeros({M, k, P, T}, at::kFloat);
  const auto texts = measured_texts(batch);
  for (int64_t m = 0; m < M; ++m) {
    const auto row = static_cast<size_t>(rows[static_cast<size_t>(m)]);
    const auto& slots = texts[row].slots;
    for (int64_t i = 0; i < k * P; ++i) {
      const auto first = first_logits(seed, batch.items[row], i, std::ssize(slots));
      float* const out = logits.data_ptr<float>() + (m * k * P + i) * T;
      for (size_t t = 0; t < slots.size(); ++t) out[slots[t]] = first[t];
    }
  }
  logits = logits.to(device);
  logits.masked_fill_(kept.logical_not(), -std::numeric_limits<float>::infinity());
  const auto outputs_of = [&](const Tensor& weights) {
    const Tensor outputs = batch.outputs_with(repeated, (weights * scale).view({M * k, P, T}));
    return outputs.view({M, k, P, outputs.size(-1)});
  };

  AmsgradAdam optimizer(options.rate);
  for (int64_t step = 0; step < options.steps; ++step) {
    const Tensor weights = logits.softmax(-1);
    Tensor gradient;
    {
      const at::AutoGradMode with_gradients(true);
      const Tensor input = weights.detach().requires_grad_();
      const Tensor over = excess(outputs_of(input), own_outputs, positions, options.epsilon);
      if (over.requires_grad())
        gradient = torch::autograd::grad({over.sum()}, {input}, {}, /*retain_graph=*/false, /*create_graph=*/false,
                                         /*allow_unused=*/true)[0];
    }
    const at::NoGradGuard no_gradients;
    Tensor whole = divergence_gradient(weights, own);
    if (gradient.defined()) whole.add_(gradient.to(whole.scalar_type()), kPenalty);
    const Tensor along = whole.mul_(weights);  // through the softmax: a (g - sum a g)
    optimizer.step(logits, along - weights * along.sum(-1, /*keepdim=*/true));
  }

  const at::NoGradGuard no_gradients;
  const Tensor found = logits.softmax(-1);
  const Tensor outputs = outputs_of(found).view({M * k, P, own_outputs.size(-1)});
  return {found, output_distances(batch, facts, repeated, outputs).view({M, k, P})};
}

}  // namespace heed
