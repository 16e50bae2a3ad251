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
kernels::Problem<Real> problem_of(const CallRecord& r, const KernelTensors& t) {
  const auto real = [](double x) { return static_cast<Real>(x); };
  kernels::Problem<Real> p;
  fill<Real>(r, t, p);
  p.value_width = t.values.size(3);
  p.score = r.score.kind;
  p.exp_keys = rows_of<const Real>(t.packed_keys);
  p.align = r.align.kind;
  p.gauss = r.align.gauss;
  p.position = pointer<const Real>(t.position);
  p.sigma = real(r.align.sigma);
  p.theta = real(r.align.theta);
  p.alpha = real(r.align.alpha);
  p.alphas = pointer<const Real>(t.alpha);
  p.alphas_head = t.alpha.defined() ? 1 : 0;
  p.k = std::min(r.align.k, p.keys);
  p.renorm = r.align.renorm;
  p.keep_best = r.align.keep_best;
  p.perturb = r.align.perturb;
  p.temperature = real(r.align.temperature);
  const Outputs& outputs = r.call.outputs;
  p.with_lse = r.offers.log_probability || outputs.lse || outputs.entropy || outputs.links.defined();
  return p;
}

/// Computes the requested outputs, with W = 1.
template <typename Real>
void report(const CallRecord& r, const kernels::Problem<Real>& p, Tensors& out) {
  const Outputs& outputs = r.call.outputs;
  const auto options = out[kContext].options();
  const auto count = [](const std::vector<int64_t>& some) { return static_cast<int64_t>(some.size()); };
  kernels::RequestedOutputs<Real> w;
  bool any = false;
  const auto buffer = [&](Output which, at::IntArrayRef shape) {
    any = true;
    out[which] = at::empty(shape, options);
    return pointer<Real>(out[which]);
  };
  if (outputs.weights) {
    w.query_count = count(outputs.rows);
    w.head_count = count(outputs.heads);
    if (w.query_count > 0) w.some_queries = outputs.rows.data();
    if (w.head_count > 0) w.some_heads = outputs.heads.data();
    w.weights = buffer(kWeights, {p.batch, w.head_count > 0 ? w.head_count : p.heads,
                                  w.query_count > 0 ? w.query_count : p.queries, p.keys, 1});
  }
  if (outputs.lse) w.lse = buffer(kLse, {p.batch, p.heads, p.queries, 1});
  if (outputs.entropy) w.entropy = buffer(kEntropy, {p.batch, p.heads, p.queries, 1});
  if (r.offers.log_probability) w.log_probability = buffer(kLogProbability, {p.batch, p.heads, p.queries, 1});
  if (outputs.column_mass) w.column_mass = buffer(kColumnMass, {p.batch, p.heads, p.keys, 1});
  if (outputs.top > 0) {
    w.top = outputs.top;
    w.top_weights = buffer(kTopWeights, {p.batch, p.heads, p.queries, outputs.top, 1});
    out[kTopKeys] = at::empty({p.batch, p.heads, p.queries, outputs.top, 1}, options.dtype(at::kLong));
    w.top_keys = pointer<int64_t>(out[kTopKeys]);
  }
  const Tensor links = dense(outputs.links);
  if (links.defined()) {
    w.link_count = links.size(0);
    w.links = pointer<const int64_t>(links);
    w.link_log_weights = buffer(kLinks, {w.link_count, 1});
  }
  if (any) cpu::report(p, w, on_torch_threads);
}

template <typename Real>
ForwardResult forward_as(const CallRecord& r, bool learns) {
  const KernelTensors t(r);
  ForwardResult result;
  Tensors& out = result.outputs;
  out[kContext] = at::empty({r.batch, r.heads, r.queries, t.values.size(3)}, t.values.options());
  auto p = problem_of<Real>(r, t);
  const int64_t bytes = r.batch * r.heads * r.queries * static_cast<int64_t>(sizeof(kernels::RowStats<Real>));
  const Tensor rows = at::empty({bytes}, t.values.options().dtype(at::kByte));
  Tensor second;
  if (learns && cpu::traits(p.align).needs_second) second = at::empty_like(out[kContext]);
  p.rows = pointer<kernels::RowStats<Real>>(rows);
  p.context = pointer<Real>(out[kContext]);
  p.second = pointer<Real>(second);
  cpu::forward(p, on_torch_threads);
  report(r, p, out);
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
  auto p = problem_of<Real>(r, t);
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
