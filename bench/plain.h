// The same attention in plain libtorch, as a user would write it: all queries at once, and in chunks of queries that
// fit the cache. Tensors are [B, L, D]; query and keys are already projected, as for the kernels.

#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

namespace heed::bench {

using at::Tensor;
using Formula = std::function<Tensor(const std::vector<Tensor>&)>;  // query, keys, values (, to_scores) -> context

/// softmax(w . tanh(q + k)) v
inline Tensor plain_additive(const std::vector<Tensor>& x) {
  const auto hidden = at::tanh(x[0].unsqueeze(2) + x[1].unsqueeze(1));    // [B, Lq, Lk, Dh]
  const auto scores = at::linear(hidden, x[3].unsqueeze(0)).squeeze(-1);  // [B, Lq, Lk]
  return at::bmm(at::softmax(scores, -1), x[2]);
}

/// The same with in-place tanh, which writes one tensor less.
inline Tensor frugal_additive(const std::vector<Tensor>& x) {
  const auto hidden = (x[0].unsqueeze(2) + x[1].unsqueeze(1)).tanh_();
  const auto scores = at::linear(hidden, x[3].unsqueeze(0)).squeeze(-1);
  return at::bmm(at::softmax(scores, -1), x[2]);
}

/// softmax(q . k / sqrt(D)) v
inline Formula plain_dot(bool causal) {
  return [causal](const std::vector<Tensor>& x) {
    auto scores = at::bmm(x[0], x[1].transpose(1, 2)) / std::sqrt(static_cast<double>(x[0].size(-1)));
    if (causal) scores = scores + at::full({x[0].size(1), x[1].size(1)}, -INFINITY).triu(1);
    return at::bmm(at::softmax(scores, -1), x[2]);
  };
}

/// One score per channel: Wd tanh(q + k), or elementwise 5 tanh((q + k) / 5).
inline Tensor plain_multi(const std::vector<Tensor>& x) {
  const auto both = x[0].unsqueeze(2) + x[1].unsqueeze(1);  // [B, Lq, Lk, Dh]
  const auto scores = x.size() > 3 ? at::linear(at::tanh(both), x[3]) : 5 * at::tanh(both / 5);
  return (at::softmax(scores, 2) * x[2].unsqueeze(1)).sum(2);
}

inline std::vector<Tensor> with_queries(std::vector<Tensor> x, int64_t from, int64_t count) {
  x[0] = x[0].narrow(1, from, count);
  return x;
}

/// Forward only; chunk: number of queries at a time.
inline Tensor run_plain(const Formula& formula, const std::vector<Tensor>& x, int64_t chunk) {
  const at::NoGradGuard no_grad;
  const int64_t queries = x[0].size(1);
  if (chunk >= queries) return formula(x);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < queries; i += chunk)
    parts.push_back(formula(with_queries(x, i, std::min(chunk, queries - i))));
  return at::cat(parts, 1);
}

/// Forward and backward through autograd, chunk by chunk, so that only one chunk's graph is in memory. Returns the
/// gradients of query, keys, values (, to_scores).
inline std::vector<Tensor> plain_gradients(const Formula& formula, const std::vector<Tensor>& x, const Tensor& upstream,
                                           int64_t chunk) {
  const int64_t queries = x[0].size(1);
  std::vector<Tensor> leaves, all;
  for (const auto& tensor : x) leaves.push_back(tensor.detach().requires_grad_());
  std::vector<Tensor> of_query;
  for (int64_t i = 0; i < queries; i += chunk) {
    const int64_t count = std::min(chunk, queries - i);
    auto inputs = leaves;
    inputs[0] = x[0].narrow(1, i, count).detach().requires_grad_();
    const auto grads = torch::autograd::grad({formula(inputs)}, inputs, {upstream.narrow(1, i, count)});
    of_query.push_back(grads[0]);
    if (all.empty()) {
      all = grads;
      continue;
    }
    for (size_t k = 1; k < grads.size(); ++k) all[k].add_(grads[k]);
  }
  all[0] = of_query.size() == 1 ? of_query[0] : at::cat(of_query, 1);
  return all;
}

}  // namespace heed::bench
