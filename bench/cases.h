// Problems for the fused kernels on torch tensors, each with a copy in double to measure the error.

#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "bench/race.h"
#include <ATen/ATen.h>

#include "heed/kernels/cpu/attend.h"
#include "heed/kernels/cpu/multi/attend.h"

namespace heed::bench {

namespace cpu = kernels::cpu;
using at::Tensor;
using kernels::AlignKind;
using kernels::ScoreKind;

/// The largest error over all tensors, each relative to its own size.
inline Error error_of(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  Error worst{0, 0};
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto apart = got[i].to(at::kDouble) - expected[i];
    const auto norm = [](const Tensor& x) { return x.norm().item<double>(); };
    const auto largest = [](const Tensor& x) { return x.abs().max().item<double>(); };
    worst.norm = std::max(worst.norm, norm(apart) / std::max(1e-300, norm(expected[i])));
    worst.max = std::max(worst.max, largest(apart) / std::max(1e-300, largest(expected[i])));
  }
  return worst;
}

struct Sizes {
  int64_t batch = 1, heads = 1, queries = 0, keys = 0, width = 0, value_width = 0;
};

struct Inputs {
  Tensor query, keys, values;  // [B, H, L, D]
  Tensor to_scores;            // [D]; multi-dimensional: [W, D]
  Tensor upstream;             // the gradient with respect to the context, [B, H, Lq, Dv]

  /// Query and keys N(0, sigma^2), values and gradients N(0, 1), to_scores N(0, 1 / D).
  static Inputs normal(const Sizes& n, double sigma = 1, bool matrix = false) {
    const auto w = matrix ? at::randn({n.value_width, n.width}) : at::randn({n.width});
    return {sigma * at::randn({n.batch, n.heads, n.queries, n.width}),
            sigma * at::randn({n.batch, n.heads, n.keys, n.width}),
            at::randn({n.batch, n.heads, n.keys, n.value_width}), w / std::sqrt(static_cast<double>(n.width)),
            at::randn({n.batch, n.heads, n.queries, n.value_width})};
  }
  Inputs first_queries(int64_t count) const {
    Inputs some = *this;
    some.query = query.narrow(2, 0, count);
    some.upstream = upstream.narrow(2, 0, count);
    return some;
  }
  Inputs in_double() const {
    const auto twin = [](const Tensor& x) { return x.defined() ? x.to(at::kDouble).contiguous() : x; };
    return {twin(query), twin(keys), twin(values), twin(to_scores), twin(upstream)};
  }
  /// Heads merged into the batch axis, as the formulas in plain libtorch expect.
  std::vector<Tensor> flat() const {
    std::vector<Tensor> all{query.flatten(0, 1), keys.flatten(0, 1), values.flatten(0, 1)};
    if (to_scores.defined()) all.push_back(to_scores);
    return all;
  }
  /// Without to_scores, for scores without parameters.
  Inputs bare() const { return {query, keys, values, {}, upstream}; }
};

struct Setting {
  ScoreKind score = ScoreKind::dot;  // dot is scaled by 1 / sqrt(D)
  AlignKind align = AlignKind::softmax;
  double alpha = 1.5;  // entmax
  bool causal = false, sample = false, with_lse = true;
  bool exp_keys = false;  // additive: pass exp(2 keys), as a prepared memory does
};

template <typename Real>
kernels::Rows<const Real> rows_of(const Tensor& x) {
  return {x.template data_ptr<Real>(), x.stride(0), x.stride(1), x.stride(2)};
}

/// The inputs as a Problem, with buffers for results and gradients.
template <typename Real>
class Bound {
 public:
  Bound(const Inputs& in, const Setting& s) : in_(in) {
    p.batch = in.query.size(0), p.heads = p.key_heads = in.query.size(1);
    p.queries = in.query.size(2), p.keys = in.keys.size(2), p.width = in.query.size(3);
    p.value_width = in.values.size(3);
    p.query = rows_of<Real>(in.query), p.key_rows = rows_of<Real>(in.keys), p.values = rows_of<Real>(in.values);
    p.score = s.score, p.align = s.align, p.alpha = static_cast<Real>(s.alpha);
    p.mask.causal = s.causal;
    p.perturb = s.sample, p.with_lse = s.with_lse, p.seed = 7;
    if (s.score == ScoreKind::additive)
      p.to_scores = in.to_scores.template data_ptr<Real>();
    else
      p.scale = static_cast<Real>(1 / std::sqrt(static_cast<double>(p.width)));
    if (s.exp_keys) {
      exp_keys_ = (2 * in.keys).exp();
      p.exp_keys = rows_of<Real>(exp_keys_);
    }
    context = at::empty_like(in.upstream);
    rows.resize(static_cast<size_t>(p.batch * p.heads * p.queries));
    p.context = context.template data_ptr<Real>(), p.rows = rows.data();
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  void forward(const ParallelFor& parallel_for = in_order) { cpu::forward(p, parallel_for); }
  void backward(const ParallelFor& parallel_for = in_order) {
    if (grads.empty()) make_gradients();
    cpu::backward(p, g_, parallel_for);
  }

  kernels::Problem<Real> p;
  Tensor context;
  std::vector<kernels::RowStats<Real>> rows;
  std::vector<Tensor> grads;  // of query, keys, values, to_scores

 private:
  void make_gradients() {
    const auto type = in_.query.scalar_type();
    grads = {at::zeros(in_.query.sizes(), type), at::zeros_like(in_.keys), at::zeros_like(in_.values)};
    if (p.to_scores) grads.push_back(at::zeros({p.heads, p.width}, type));
    g_.context = in_.upstream.template data_ptr<Real>();
    g_.query = grads[0].template data_ptr<Real>();
    g_.keys = grads[1].template data_ptr<Real>();
    g_.values = grads[2].template data_ptr<Real>();
    if (p.to_scores) g_.to_scores = grads[3].template data_ptr<Real>();
  }

  Inputs in_;
  Tensor exp_keys_;
  kernels::Gradients<Real> g_;
};

/// A problem in float, and its errors relative to double.
class Case {
 public:
  Case(Inputs inputs, const Setting& s) : in(std::move(inputs)), setting(s), single(in, s) {}

  std::function<void()> forward() {
    return [this] { single.forward(); };
  }
  std::function<void()> backward() {
    return [this] { single.backward(); };
  }
  std::function<void()> both() {
    return [this] {
      single.forward();
      single.backward();
    };
  }
  /// Error of the context of the first queries. Hard: queries for which float and double sampled different keys,
  /// because the two were too close, are left out and counted.
  std::function<Error()> context_error() {
    return [this] {
      const int64_t count = std::min<int64_t>(512, in.query.size(2));
      Bound<double> twin(in.first_queries(count).in_double(), setting);
      twin.forward();
      auto got = single.context.narrow(2, 0, count).contiguous();
      const auto& p = single.p;
      for (int64_t bh = 0; bh < p.batch * p.heads; ++bh)
        for (int64_t i = 0; i < count; ++i)
          if (single.rows[static_cast<size_t>(bh * p.queries + i)].key !=
                  twin.rows[static_cast<size_t>(bh * count + i)].key &&
              setting.align == AlignKind::hard) {
            ++drawn_differently;
            got.flatten(0, 2)[bh * count + i].copy_(twin.context.flatten(0, 2)[bh * count + i]);
          }
      return error_of({got}, {twin.context});
    };
  }
  std::function<Error()> gradients_error() {
    return [this] {
      Bound<double> twin(in.in_double(), setting);
      twin.forward();
      twin.backward();
      return error_of(single.grads, twin.grads);
    };
  }

  const Inputs in;
  const Setting setting;
  Bound<float> single;
  int64_t drawn_differently = 0;
};

/// The same for the multi-dimensional kernels, forward. to_scores undefined: the elementwise form.
class MultiCase {
 public:
  explicit MultiCase(Inputs inputs) : in_(std::move(inputs)) {}

  std::function<void()> forward() {
    context_ = at::empty_like(in_.upstream), top_ = at::empty_like(in_.upstream), sum_ = at::empty_like(in_.upstream);
    return [this, p = problem<float>(in_, context_, top_, sum_)] { cpu::multi_forward(p); };
  }
  std::function<Error()> error() {
    return [this] {
      const auto in = in_.in_double();
      auto context = at::empty_like(in.upstream), top = at::empty_like(in.upstream), sum = at::empty_like(in.upstream);
      cpu::multi_forward(problem<double>(in, context, top, sum));
      return error_of({context_}, {context});
    };
  }
  const Inputs& in() const { return in_; }

 private:
  template <typename Real>
  static cpu::MultiProblem<Real> problem(const Inputs& in, Tensor& context, Tensor& top, Tensor& sum) {
    cpu::MultiProblem<Real> p;
    p.batch = in.query.size(0), p.heads = p.key_heads = in.query.size(1);
    p.queries = in.query.size(2), p.keys = in.keys.size(2), p.width = in.query.size(3), p.channels = in.values.size(3);
    p.query = rows_of<Real>(in.query), p.key_rows = rows_of<Real>(in.keys), p.values = rows_of<Real>(in.values);
    if (in.to_scores.defined()) p.to_scores = in.to_scores.data_ptr<Real>();
    p.context = context.data_ptr<Real>(), p.top = top.data_ptr<Real>(), p.sum = sum.data_ptr<Real>();
    return p;
  }

  Inputs in_;
  Tensor context_, top_, sum_;
};

}  // namespace heed::bench
