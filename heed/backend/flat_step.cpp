#include "heed/backend/flat_step.h"

#include <cmath>

#include <ATen/ATen.h>

#include "heed/base/check.h"
#include "heed/kernels/cpu/train/flat_step.h"
#include "heed/torch_support/parallel.h"

#ifdef HEED_CUDA
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "heed/kernels/cuda/flat_step.h"
#endif

namespace heed {
namespace {

/// x <- y where `go` is true.
void replace_where(const at::Tensor& go, const at::Tensor& x, const at::Tensor& y) {
  x.copy_(at::where(go, y, x));
}

template <typename Real>
void flat_step_on_cpu(const FlatUpdate& u, const FlatTensors& t, double clip_norm) {
  const auto pointer = [](const at::Tensor& x) { return x.defined() ? x.data_ptr<Real>() : nullptr; };
  using Step = kernels::cpu::FlatStep<Real>;
  Step step;
  step.rule = u.rule == FlatUpdate::Rule::adam ? kernels::cpu::FlatRule::adam : kernels::cpu::FlatRule::sgd;
  int64_t count = 0;
  if (t.parts.empty()) step.grads.push_back({t.grads.numel(), pointer(t.grads)});
  for (const auto& [numbers, grads] : t.parts) {
    check(!grads.defined() || (grads.numel() == numbers && grads.is_contiguous()), "flat_step: got ", grads.numel(),
          " gradients for ", numbers, " values, expected one each, contiguous");
    step.grads.push_back({numbers, pointer(grads)});
  }
  for (const auto& part : step.grads) count += part.count;
  check(count == t.values.numel(), "flat_step: got ", count, " gradients for ", t.values.numel(), " values");
  step.values = pointer(t.values);
  step.first = pointer(u.first);
  step.second = pointer(u.second);
  step.average = pointer(t.average);
  step.loss = t.loss.data_ptr<double>()[0];
  const double* const numbers = t.numbers.data_ptr<double>();
  step.scale = numbers[0];
  step.rate = numbers[1];
  step.first_share = numbers[2];
  step.second_root = numbers[3];
  step.average_weight = numbers[4];
  step.clip_norm = clip_norm;
  step.beta1 = u.beta1;
  step.beta2 = u.beta2;
  step.epsilon = u.epsilon;
  step.decay = u.decay;
  double* const stats = t.stats.data_ptr<double>();
  const auto found = kernels::cpu::flat_step(step, /*change=*/stats[2] == 0, on_torch_threads);
  stats[0] = found.loss;
  stats[1] = found.norm;
  if (!found.finite) stats[2] = 1;
}

#ifdef HEED_CUDA
template <typename Real>
void flat_step_by_kernel(const FlatUpdate& u, const FlatTensors& t, double clip_norm) {
  const auto pointer = [](const at::Tensor& x) { return x.defined() ? x.data_ptr<Real>() : nullptr; };
  kernels::cuda::FlatStep<Real> step;
  step.rule = u.rule == FlatUpdate::Rule::adam ? kernels::cuda::FlatRule::adam : kernels::cuda::FlatRule::sgd;
  step.count = t.values.numel();
  step.values = pointer(t.values);
  step.grads = pointer(t.grads);
  step.first = pointer(u.first);
  step.second = pointer(u.second);
  step.average = pointer(t.average);
  step.loss = t.loss.data_ptr<double>();
  static_assert(sizeof(kernels::cuda::FlatScalars) == sizeof(FlatNumbers));
  step.scalars = reinterpret_cast<const kernels::cuda::FlatScalars*>(t.numbers.data_ptr<double>());
  step.stats = reinterpret_cast<kernels::cuda::FlatStats*>(t.stats.data_ptr<double>());
  step.clip_norm = clip_norm;
  step.beta1 = u.beta1;
  step.beta2 = u.beta2;
  step.epsilon = u.epsilon;
  step.decay = u.decay;
  const c10::cuda::CUDAGuard device(t.values.device());
  const auto parts = at::empty({static_cast<int64_t>(kernels::cuda::flat_step_parts(step.count))}, t.loss.options());
  kernels::cuda::flat_step(step, parts.data_ptr<double>(), c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}
#endif

}  // namespace

FlatNumbers flat_numbers(const FlatUpdate& update, double scale, double rate, int64_t number, double average_weight) {
  const auto t = static_cast<double>(number);
  return {scale, rate, 1 - std::pow(update.beta1, t), std::sqrt(1 - std::pow(update.beta2, t)), average_weight};
}

void flat_step_by_torch(const FlatUpdate& u, const FlatTensors& t, double clip_norm) {
  const at::NoGradGuard no_grad;
  const auto number = [&](int64_t i) { return t.numbers.select(0, i); };
  const auto in_type = [&](const at::Tensor& x) { return x.to(t.values.scalar_type()); };
  auto g = t.grads * in_type(number(0));
  const auto norm = g.norm().to(at::kDouble), loss = t.loss.select(0, 0) * number(0);
  const auto finite = norm.isfinite().logical_and(loss.isfinite());
  const auto go = finite.logical_and(t.stats.select(0, 2) == 0);
  t.stats.copy_(at::stack({loss, norm, at::where(finite, t.stats.select(0, 2), at::ones_like(norm))}));
  if (clip_norm > 0) g = g * in_type(at::where(norm > clip_norm, clip_norm / norm, at::ones_like(norm)));
  const auto rate = in_type(number(1));
  at::Tensor next = t.values;
  if (u.rule == FlatUpdate::Rule::adam) {
    const auto m = u.first * u.beta1 + g * (1 - u.beta1), v = u.second * u.beta2 + g * g * (1 - u.beta2);
    if (u.decay > 0) next = next * (1 - rate * u.decay);
    next = next - rate / in_type(number(2)) * (m / (v.sqrt() / in_type(number(3)) + u.epsilon));
    replace_where(go, u.first, m);
    replace_where(go, u.second, v);
  } else if (u.first.defined()) {
    const auto m = u.first * u.beta1 + g;
    next = next - rate * m;
    replace_where(go, u.first, m);
  } else {
    next = next - rate * g;
  }
  replace_where(go, t.values, next);
  if (t.average.defined()) replace_where(go, t.average, t.average + in_type(number(4)) * (t.values - t.average));
}

void flat_step(const FlatUpdate& update, const FlatTensors& tensors, double clip_norm) {
  if (tensors.values.device().is_cpu() && tensors.values.scalar_type() == at::kFloat)
    return flat_step_on_cpu<float>(update, tensors, clip_norm);
  if (tensors.values.device().is_cpu() && tensors.values.scalar_type() == at::kDouble)
    return flat_step_on_cpu<double>(update, tensors, clip_norm);
#ifdef HEED_CUDA
  if (tensors.values.is_cuda() && tensors.values.scalar_type() == at::kFloat)
    return flat_step_by_kernel<float>(update, tensors, clip_norm);
  if (tensors.values.is_cuda() && tensors.values.scalar_type() == at::kDouble)
    return flat_step_by_kernel<double>(update, tensors, clip_norm);
#endif
  flat_step_by_torch(update, tensors, clip_norm);
}

}  // namespace heed
