// The tensors of a call as the pointers and strides that kernels read, on the device of the call.

#pragma once

#include <algorithm>

#include <ATen/ATen.h>

#include "heed/backend/record.h"
#include "heed/kernels/problem.h"
#include "heed/torch_support/send.h"

namespace heed::backend::kernel_tensors {

template <typename T>
T* pointer(const Tensor& x) {
  return x.defined() ? static_cast<T*>(x.data_ptr()) : nullptr;
}
template <typename T>
kernels::Rows<T> rows_of(const Tensor& x) {  // [B, H, L, D]
  if (!x.defined()) return {};
  return {pointer<T>(x), x.stride(0), x.stride(1), x.stride(2)};
}
/// x [B|1, H|1, Lq|1, Lk|1]; axes of size 1 broadcast.
template <typename T>
kernels::Grid<T> grid_of(const Tensor& x) {
  if (!x.defined()) return {};
  const auto stride = [&](int64_t axis) { return x.size(axis) == 1 ? 0 : x.stride(axis); };
  return {pointer<T>(x), stride(0), stride(1), stride(2), stride(3)};
}

// Grad mode is off where these are called, so autograd records nothing.
inline Tensor dense(const Tensor& x) {
  return x.defined() ? x.contiguous() : x;
}
inline Tensor in_rows(const Tensor& x) {  // features contiguous
  return !x.defined() || x.stride(-1) == 1 || x.size(-1) == 1 ? x : x.contiguous();
}

/// Tensors of a record in the memory layout of kernels: features contiguous, small tensors contiguous as a whole.
struct KernelTensors {
  explicit KernelTensors(const CallRecord& r)
      : query(in_rows(r.in[kTileQuery])),
        keys(in_rows(r.in[kTileKeys])),
        values(in_rows(r.in[kTileValues])),
        packed_keys(in_rows(r.in[kPackedKeys])),
        position(dense(r.in[kPosition])),
        alpha(dense(r.in[kAlpha])),
        keep(r.in[kKeep]),
        full(r.in[kFull]),
        per_key(r.in[kPerKey].defined() ? r.in[kPerKey].unsqueeze(2) : Tensor()),
        relative(dense(r.in[kRelative])),
        alibi(dense(r.in[kAlibi])) {
    if (const Tensor& w = r.in[kToScores]; w.defined())
      to_scores = (w.stride(0) == 0 ? w.narrow(0, 0, 1) : w).contiguous();
    if (const Tensor& x = r.in[kCenter]; x.defined()) center = x.expand({r.batch, r.heads, r.queries}).contiguous();
    key_count = dense(r.in[kKeyCount]);
    if (r.max_keys < r.keys)  // the keys after them cannot be scored
      key_count = key_count.defined() ? key_count.clamp_max(r.max_keys)
                                      : at::full({r.batch}, r.max_keys, values.options().dtype(at::kLong));
  }

  Tensor query, keys, values, packed_keys, to_scores, position, alpha, center, key_count;
  Tensor keep, full, per_key, relative, alibi;
};

/// Fills the fields that single-dimensional and multi-dimensional problems share.
template <typename Real, class Problem>
void fill(const CallRecord& r, const KernelTensors& t, Problem& p) {
  const Call& call = r.call;
  const auto real = [](double x) { return static_cast<Real>(x); };
  p.batch = r.batch;
  p.heads = r.heads;
  p.key_heads = t.values.size(1);
  p.queries = r.queries;
  p.keys = r.keys;
  p.width = t.query.size(3);
  p.activation = r.score.activation;
  p.query = rows_of<const Real>(t.query);
  p.key_rows = rows_of<const Real>(t.keys);
  p.values = rows_of<const Real>(t.values);
  p.to_scores = pointer<const Real>(t.to_scores);
  if (t.to_scores.defined() && t.to_scores.size(0) > 1) p.to_scores_head = t.to_scores.stride(0);
  p.scale = real(call.scale * r.score_scale);
  p.soft_cap = real(call.soft_cap);

  p.mask.keep = grid_of<const uint8_t>(t.keep);
  p.mask.key_count = pointer<const int64_t>(t.key_count);
  p.mask.first_position = first_position(call.mask, r.whole());
  p.mask.causal = call.mask.causal != Causal::none;
  p.mask.left = call.mask.left;
  p.mask.right = call.mask.right;
  p.mask.center = pointer<const int64_t>(t.center);
  p.mask.reach = r.align.reach;

  p.bias.full = grid_of<const Real>(t.full);
  p.bias.per_key = grid_of<const Real>(t.per_key);
  p.bias.relative = pointer<const Real>(t.relative);
  if (t.relative.defined()) {
    p.bias.relative_reach = t.relative.size(1) / 2;
    p.bias.relative_head = t.relative.size(0) == 1 ? 0 : t.relative.size(1);
  }
  p.bias.alibi = pointer<const Real>(t.alibi);

  p.dropout = real(call.noise.dropout);
  p.seed = call.noise.seed;
  p.stream = call.noise.stream;
  p.first_row = call.noise.first_row;
  p.first_query = call.mask.first_query;
}

/// The problem of a single-dimensional call, without its results.
template <typename Real>
kernels::Problem<Real> pair_problem(const CallRecord& r, const KernelTensors& t) {
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

/// The requested outputs of a single-dimensional call, with W = 1: their buffers are made in `out`.
template <typename Real>
struct RequestedBuffers {
  RequestedBuffers(const CallRecord& r, const kernels::Problem<Real>& p, Tensors& out) {
    const Outputs& outputs = r.call.outputs;
    const auto options = out[kContext].options();
    const auto count = [](const std::vector<int64_t>& some) { return static_cast<int64_t>(some.size()); };
    const auto buffer = [&](Output which, at::IntArrayRef shape) {
      any = true;
      out[which] = at::empty(shape, options);
      return pointer<Real>(out[which]);
    };
    if (outputs.weights) {
      wanted.query_count = count(outputs.rows);
      wanted.head_count = count(outputs.heads);
      queries = indices(outputs.rows, options.device());
      heads = indices(outputs.heads, options.device());
      wanted.some_queries = pointer<const int64_t>(queries);
      wanted.some_heads = pointer<const int64_t>(heads);
      wanted.weights = buffer(kWeights, {p.batch, wanted.head_count > 0 ? wanted.head_count : p.heads,
                                         wanted.query_count > 0 ? wanted.query_count : p.queries, p.keys, 1});
    }
    if (outputs.lse) wanted.lse = buffer(kLse, {p.batch, p.heads, p.queries, 1});
    if (outputs.entropy) wanted.entropy = buffer(kEntropy, {p.batch, p.heads, p.queries, 1});
    if (r.offers.log_probability) wanted.log_probability = buffer(kLogProbability, {p.batch, p.heads, p.queries, 1});
    if (outputs.column_mass) wanted.column_mass = buffer(kColumnMass, {p.batch, p.heads, p.keys, 1});
    if (outputs.top > 0) {
      wanted.top = outputs.top;
      wanted.top_weights = buffer(kTopWeights, {p.batch, p.heads, p.queries, outputs.top, 1});
      out[kTopKeys] = at::empty({p.batch, p.heads, p.queries, outputs.top, 1}, options.dtype(at::kLong));
      wanted.top_keys = pointer<int64_t>(out[kTopKeys]);
    }
    links = dense(outputs.links);
    if (links.defined()) {
      wanted.link_count = links.size(0);
      wanted.links = pointer<const int64_t>(links);
      wanted.link_log_weights = buffer(kLinks, {wanted.link_count, 1});
    }
  }

  kernels::RequestedOutputs<Real> wanted;
  bool any = false;
  Tensor queries, heads, links;  // that `wanted` points to
};

/// Buffers for the gradients that are wanted, by Slot; undefined: not wanted.
class GradientBuffers {
 public:
  /// by_scores: whether the scores get a gradient.
  GradientBuffers(const CallRecord& r, const std::vector<bool>& wanted, bool by_scores) : all(r.in.size()) {
    const auto make = [&](Slot slot) {
      const Tensor& x = r.in[slot];
      if (x.defined() && wanted[slot]) all[slot] = at::empty(x.sizes(), x.options());
    };
    make(kTileValues);
    if (by_scores) {
      for (const Slot slot : {kTileQuery, kTileKeys, kToScores, kPosition, kAlpha, kFull, kPerKey, kRelative, kAlibi})
        make(slot);
      for (const Slot slot : {kFull, kPerKey})  // kernels add to these
        if (all[slot].defined()) all[slot].zero_();
    }
    any = std::any_of(all.begin(), all.end(), [](const Tensor& x) { return x.defined(); });
  }

  Tensors all;
  bool any = false;
};

template <typename Real, class Gradients>
void fill(const Tensors& given, const Tensors& buffers, Gradients& g) {
  g.context = pointer<const Real>(given[kContext]);
  g.lse = pointer<const Real>(given[kLse]);
  g.query = pointer<Real>(buffers[kTileQuery]);
  g.keys = pointer<Real>(buffers[kTileKeys]);
  g.values = pointer<Real>(buffers[kTileValues]);
  g.to_scores = pointer<Real>(buffers[kToScores]);
  g.full = grid_of<Real>(buffers[kFull]);
  g.per_key = grid_of<Real>(buffers[kPerKey].defined() ? buffers[kPerKey].unsqueeze(2) : Tensor());
  g.relative = pointer<Real>(buffers[kRelative]);
  g.alibi = pointer<Real>(buffers[kAlibi]);
}

}  // namespace heed::backend::kernel_tensors
