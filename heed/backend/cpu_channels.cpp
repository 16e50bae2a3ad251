#include "heed/backend/cpu_channels.h"

#include "heed/backend/kernel_tensors.h"
#include "heed/kernels/cpu/multi/attend.h"
#include "heed/torch_support/parallel.h"

namespace heed::backend::cpu_channels {
namespace {

namespace cpu = kernels::cpu;
using namespace kernel_tensors;

enum Saved { kMax, kSum };  // of SavedTensors::others

template <typename Real>
cpu::MultiProblem<Real> problem_of(const CallRecord& r, const KernelTensors& t) {
  cpu::MultiProblem<Real> p;
  fill<Real>(r, t, p);
  p.channels = t.values.size(3);
  return p;
}

template <typename Real>
ForwardResult forward_as(const CallRecord& r, bool learns) {
  const KernelTensors t(r);
  ForwardResult result;
  Tensors& out = result.outputs;
  out[kContext] = at::empty({r.batch, r.heads, r.queries, t.values.size(3)}, t.values.options());
  const Tensor max = at::empty_like(out[kContext]), sum = at::empty_like(out[kContext]);
  auto p = problem_of<Real>(r, t);
  p.context = pointer<Real>(out[kContext]);
  p.top = pointer<Real>(max);
  p.sum = pointer<Real>(sum);
  if (r.call.outputs.lse) p.lse = pointer<Real>(out[kLse] = at::empty_like(out[kContext]));
  cpu::multi_forward(p, on_torch_threads);
  if (learns) result.saved = {out[kContext], {max, sum}};
  return result;
}

template <typename Real>
Tensors backward_as(const CallRecord& r, const SavedTensors& saved, const Tensors& given,
                    const std::vector<bool>& wanted) {
  GradientBuffers buffers(r, wanted, /*by_scores=*/!r.align.constant);
  if (!buffers.any) return buffers.all;
  Tensors grads(kOutputs);
  for (size_t i = 0; i < kOutputs; ++i) grads[i] = dense(given[i]);
  if (!grads[kContext].defined()) grads[kContext] = at::zeros_like(saved.context);
  const KernelTensors t(r);
  auto p = problem_of<Real>(r, t);
  p.context = pointer<Real>(saved.context);
  p.top = pointer<Real>(saved.others[kMax]);
  p.sum = pointer<Real>(saved.others[kSum]);
  cpu::MultiGradients<Real> g;
  fill<Real>(grads, buffers.all, g);
  cpu::multi_backward(p, g, on_torch_threads);
  return buffers.all;
}

}  // namespace

ForwardResult forward(const CallRecord& record, bool learns) {
  return record.type() == at::kDouble ? forward_as<double>(record, learns) : forward_as<float>(record, learns);
}

Tensors backward(const CallRecord& record, const SavedTensors& saved, const Tensors& grads,
                 const std::vector<bool>& wanted) {
  return record.type() == at::kDouble ? backward_as<double>(record, saved, grads, wanted)
                                      : backward_as<float>(record, saved, grads, wanted);
}

}  // namespace heed::backend::cpu_channels
