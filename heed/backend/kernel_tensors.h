// The tensors of a call as the pointers and strides that kernels read, on the device of the call.

#pragma once

#include <algorithm>

#include <ATen/ATen.h>

#include "heed/backend/record.h"
#include "heed/kernels/problem.h"

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
                                      : at::full({r.batch}, r.max_keys, at::TensorOptions().dtype(at::kLong));
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
