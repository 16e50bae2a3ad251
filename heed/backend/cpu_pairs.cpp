#include "heed/backend/cpu_pairs.h"

#include "heed/backend/kernel_tensors.h"
#include "heed/kernels/cpu/attend.h"
#include "heed/torch_support/parallel.h"

namespace heed::backend::cpu_pairs {
namespace {

namespace cpu = kernels::cpu;
using namespace kernel_tensors;

enum Saved { kRows, kSecond, kSavedEntropy, kSavedTopKeys };  // of SavedTensors::others

template <typename Real>
ForwardResult forward_as(const CallRecord& r, bool learns) {
  const KernelTensors t(r);
  ForwardResult result;
  Tensors& out = result.outputs;
  out[kContext] = at::empty({r.batch, r.heads, r.queries, t.values.size(3)}, t.values.options());
  auto p = pair_problem<Real>(r, t);
  const int64_t bytes = r.batch * r.heads * r.queries * static_cast<int64_t>(sizeof(kernels::RowStats<Real>));
  const Tensor rows = at::empty({bytes}, t.values.options().dtype(at::kByte));
  Tensor second;
  if (learns && cpu::traits(p.align).needs_second) second = at::empty_like(out[kContext]);
  p.rows = pointer<kernels::RowStats<Real>>(rows);
  p.context = pointer<Real>(out[kContext]);
  p.second = pointer<Real>(second);
  cpu::forward(p, on_torch_threads);
  const RequestedBuffers<Real> requested(r, p, out);
  if (requested.any) cpu::report(p, requested.wanted, on_torch_threads);
  // Copies of small outputs, which the caller may change in place.
  const auto copied = [](const Tensor& x) { return x.defined() ? x.clone() : x; };
  if (learns) result.saved = {out[kContext], {rows, second, copied(out[kEntropy]), copied(out[kTopKeys])}};
  return result;
}

/// Gradients of the requested outputs.
template <typename Real>
void fill_requested(const CallRecord& r, const SavedTensors& saved, const Tensors& grads, const Tensor& links,
                    kernels::Gradients<Real>& g) {
  const Outputs& outputs = r.call.outputs;
  g.weights = pointer<const Real>(grads[kWeights]);
  g.query_count = static_cast<int64_t>(outputs.rows.size());
  g.head_count = static_cast<int64_t>(outputs.heads.size());
  if (g.query_count > 0) g.some_queries = outputs.rows.data();
  if (g.head_count > 0) g.some_heads = outputs.heads.data();
  g.entropy = pointer<const Real>(grads[kEntropy]);
  g.reported_entropy = pointer<const Real>(saved.others[kSavedEntropy]);
  g.column_mass = pointer<const Real>(grads[kColumnMass]);
  g.top = outputs.top;
  g.top_weights = pointer<const Real>(grads[kTopWeights]);
  g.top_keys = pointer<const int64_t>(saved.others[kSavedTopKeys]);
  g.links = pointer<const int64_t>(links);
  g.link_count = links.defined() ? links.size(0) : 0;
  g.link_log_weights = pointer<const Real>(grads[kLinks]);
}

template <typename Real>
Tensors backward_as(const CallRecord& r, const SavedTensors& saved, const Tensors& given,
                    const std::vector<bool>& wanted) {
  const bool by_distribution = given[kLogProbability].defined() || given[kEntropy].defined() || given[kLinks].defined();
  const bool drawn = cpu::traits(r.align.kind).scores_need_log_probability && !by_distribution;
  GradientBuffers buffers(r, wanted, /*by_scores=*/!r.align.constant && !drawn);
  if (!buffers.any) return buffers.all;
  Tensors grads(kOutputs);
  for (size_t i = 0; i < kOutputs; ++i) grads[i] = dense(given[i]);
  const KernelTensors t(r);
  auto p = pair_problem<Real>(r, t);
  p.rows = pointer<kernels::RowStats<Real>>(saved.others[kRows]);
  p.context = pointer<Real>(saved.context);
  p.second = pointer<Real>(saved.others[kSecond]);
  kernels::Gradients<Real> g;
  fill<Real>(grads, buffers.all, g);
  g.log_probability = pointer<const Real>(grads[kLogProbability]);
  const Tensor links = dense(r.call.outputs.links);
  fill_requested(r, saved, grads, links, g);
  g.position = pointer<Real>(buffers.all[kPosition]);
  g.alpha = pointer<Real>(buffers.all[kAlpha]);
  cpu::backward(p, g, on_torch_threads);
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

}  // namespace heed::backend::cpu_pairs
