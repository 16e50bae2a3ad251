// The computation at one node, for all heads, as a template over an instruction set (heed/kernels/cpu/simd) and
// over the number of features per head: a compile-time constant for common widths, so that the features are a few
// registers; 0: any width.
//
// Edges are processed in blocks whose features fit the L1 cache; per head, a strip of registers sums over the block.

#pragma once

#include <cstring>
#include <limits>

#include "heed/kernels/cpu/graph/pass.h"
#include "heed/kernels/problem.h"

namespace heed::kernels::cpu::graph {

template <class Set, int64_t kWidth>
struct Node {
  using Real = typename Set::Real;
  using Reg = typename Set::Reg;
  static constexpr int64_t kLanes = Set::kLanes;
  static constexpr int64_t kRegs = kWidth == 0 ? 1 : kWidth / kLanes < 4 ? kWidth / kLanes : 4;
  static constexpr int64_t kStrip = kRegs * kLanes;
  static constexpr int64_t kAhead = 12;  // prefetch distance, in edges

  struct Strip {
    Reg reg[kRegs];
  };

  // ---- strips

  /// left: numbers from p to the end of the row.
  static HEED_INLINE Strip load(const Real* p, int64_t left) {
    Strip x;
    for (int64_t r = 0; r < kRegs; ++r)
      x.reg[r] = kWidth > 0 || left >= kLanes ? Set::load(p + r * kLanes) : Set::load_some(p, left);
    return x;
  }
  static HEED_INLINE void store(Real* p, const Strip& x, int64_t left) {
    for (int64_t r = 0; r < kRegs; ++r)
      if (kWidth > 0 || left >= kLanes)
        Set::store(p + r * kLanes, x.reg[r]);
      else
        Set::store_some(p, x.reg[r], left);
  }
  static HEED_INLINE Strip zero() {
    Strip x;
    for (int64_t r = 0; r < kRegs; ++r) x.reg[r] = Set::zero();
    return x;
  }
  static HEED_INLINE void add_scaled(Strip& sum, Real by, const Strip& x) {
    const Reg all = Set::set1(by);
    for (int64_t r = 0; r < kRegs; ++r) sum.reg[r] = Set::fma(all, x.reg[r], sum.reg[r]);
  }
  static HEED_INLINE Real dot(const Strip& x, const Strip& y) {
    Reg sum = Set::mul(x.reg[0], y.reg[0]);
    for (int64_t r = 1; r < kRegs; ++r) sum = Set::fma(x.reg[r], y.reg[r], sum);
    return Set::sum(sum);
  }
  /// LeakyReLU; NaN stays NaN.
  static HEED_INLINE Strip leaky(const Strip& x, Reg negative_slope) {
    Strip y;
    for (int64_t r = 0; r < kRegs; ++r)
      y.reg[r] = Set::select(Set::greater(x.reg[r], Set::zero()), x.reg[r], Set::mul(negative_slope, x.reg[r]));
    return y;
  }
  /// y where x > 0, negative_slope y elsewhere.
  static HEED_INLINE Strip leaky_backward(const Strip& x, const Strip& y, Reg negative_slope) {
    Strip z;
    for (int64_t r = 0; r < kRegs; ++r)
      z.reg[r] = Set::select(Set::greater(x.reg[r], Set::zero()), y.reg[r], Set::mul(negative_slope, y.reg[r]));
    return z;
  }
  static HEED_INLINE Strip plus(const Strip& x, const Strip& y) {
    Strip z;
    for (int64_t r = 0; r < kRegs; ++r) z.reg[r] = Set::add(x.reg[r], y.reg[r]);
    return z;
  }

  // ---- one number per head: lanes are heads

  static HEED_INLINE Reg load_heads(const Real* p, int64_t left) {
    return left >= kLanes ? Set::load(p) : Set::load_some(p, left);
  }
  static HEED_INLINE void store_heads(Real* p, Reg x, int64_t left) {
    if (left >= kLanes)
      Set::store(p, x);
    else
      Set::store_some(p, x, left);
  }

  // ---- edges

  /// The edges of one node.
  struct Run {
    const int32_t *other, *position;
    int64_t first, count, left;  // left: number of edges from the first of these to the last of the graph
  };
  static HEED_INLINE Run run_of(const Ends& ends, int64_t node) {
    const int64_t first = ends.first[node];
    return {ends.other + first, ends.position == nullptr ? nullptr : ends.position + first, first,
            ends.first[node + 1] - first, ends.edges - first};
  }
  /// Prefetches rows [n] of the edges kAhead after those of a block, of this node or later ones.
  static HEED_INLINE void fetch(const int32_t* which, int64_t left, int64_t k, int64_t count, const Real* rows,
                                int64_t n) {
    constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(Real));
    const int64_t last = k + count + kAhead < left ? k + count + kAhead : left;
    for (int64_t e = k + kAhead; e < last; ++e)
      for (int64_t d = 0; d < n; d += kLine) __builtin_prefetch(rows + which[e] * n + d);
  }
  static HEED_INLINE int64_t block_of(const Run& run, int64_t k) {
    return run.count - k < kBlock ? run.count - k : kBlock;
  }
  static HEED_INLINE int64_t width(int64_t any) { return kWidth > 0 ? kWidth : any; }

  // ---- scores

  static HEED_INLINE void score(const Score<Real>& p, int64_t i, const Run& run, Real* e) {
    if (p.to_scores == nullptr) return pair_score(p, i, run, e);
    const int64_t H = p.heads, D = width(p.width), row = H * D;
    const Reg negative_slope = Set::set1(p.negative_slope);
    for (int64_t k = 0; k < run.count; k += kBlock) {
      const int64_t n = block_of(run, k);
      fetch(run.other, run.left, k, n, p.sender, row);
      for (int64_t h = 0; h < H; ++h)
        for (int64_t d = 0; d < D; d += kStrip) {
          const int64_t at = h * D + d;
          const Strip l = load(p.receiver + i * row + at, D - d), a = load(p.to_scores + at, D - d);
          for (int64_t q = k; q < k + n; ++q) {
            const Strip r = load(p.sender + run.other[q] * row + at, D - d);
            const Real part = dot(a, leaky(plus(l, r), negative_slope));
            e[q * H + h] = d == 0 ? part : e[q * H + h] + part;
          }
        }
    }
  }
  static HEED_INLINE void pair_score(const Score<Real>& p, int64_t i, const Run& run, Real* e) {
    const int64_t H = p.heads;
    const Reg negative_slope = Set::set1(p.negative_slope);
    fetch(run.other, run.left, 0, run.count, p.sender, H);
    for (int64_t h = 0; h < H; h += kLanes) {
      const Reg s = load_heads(p.receiver + i * H + h, H - h);
      for (int64_t k = 0; k < run.count; ++k) {
        const Reg x = Set::add(s, load_heads(p.sender + run.other[k] * H + h, H - h));
        store_heads(e + k * H + h, Set::select(Set::greater(x, Set::zero()), x, Set::mul(negative_slope, x)), H - h);
      }
    }
  }

  /// From the gradients de of the scores, writes the gradient of the receiver and adds to that of a. GAT: de becomes
  /// the gradient with respect to s_i + t_j.
  static HEED_INLINE void score_receive(const GraphPass<Real>& w, int64_t i, const Run& run, Real* de,
                                        Real* to_scores) {
    const auto& p = w.score;
    if (p.to_scores == nullptr) return pair_receive(w, i, run, de);
    const int64_t H = p.heads, D = width(p.width), row = H * D;
    const Reg negative_slope = Set::set1(p.negative_slope);
    Real* dl = w.grads.receiver == nullptr ? nullptr : w.grads.receiver + i * row;
    if (dl != nullptr) std::memset(dl, 0, static_cast<size_t>(row) * sizeof(Real));
    for (int64_t k = 0; k < run.count; k += kBlock)
      for (int64_t h = 0; h < H; ++h)
        for (int64_t d = 0; d < D; d += kStrip) {
          const int64_t at = h * D + d, left = D - d, last = k + block_of(run, k);
          const Strip l = load(p.receiver + i * row + at, left), a = load(p.to_scores + at, left);
          Strip by_l = dl == nullptr ? zero() : load(dl + at, left);
          Strip by_a = to_scores == nullptr ? zero() : load(to_scores + at, left);
          for (int64_t q = k; q < last; ++q) {
            const Strip x = plus(l, load(p.sender + run.other[q] * row + at, left));
            add_scaled(by_l, de[q * H + h], leaky_backward(x, a, negative_slope));
            add_scaled(by_a, de[q * H + h], leaky(x, negative_slope));
          }
          if (dl != nullptr) store(dl + at, by_l, left);
          if (to_scores != nullptr) store(to_scores + at, by_a, left);
        }
  }
  static HEED_INLINE void pair_receive(const GraphPass<Real>& w, int64_t i, const Run& run, Real* de) {
    const auto& p = w.score;
    const int64_t H = p.heads;
    const Reg negative_slope = Set::set1(p.negative_slope);
    for (int64_t h = 0; h < H; h += kLanes) {
      const Reg s = load_heads(p.receiver + i * H + h, H - h);
      Reg total = Set::zero();
      for (int64_t k = 0; k < run.count; ++k) {
        const Reg x = Set::add(s, load_heads(p.sender + run.other[k] * H + h, H - h));
        const Reg d = load_heads(de + k * H + h, H - h);
        const Reg below = Set::select(Set::greater(x, Set::zero()), d, Set::mul(negative_slope, d));
        store_heads(de + k * H + h, below, H - h);
        total = Set::add(total, below);
      }
      if (w.grads.receiver != nullptr) store_heads(w.grads.receiver + i * H + h, total, H - h);
    }
  }

  // ---- softmax

  /// exp of x <= 0; NaN stays NaN.
  static HEED_INLINE Reg exp_below(Reg x) {
    const Reg y = Set::mul(x, Set::set1(static_cast<Real>(kLog2E)));
    return Set::select(Set::equal(y, y), Set::exp2_below(y), y);
  }

  /// In place: scores e [count, H] become weights. A score of -inf counts as absent; if all are, all weights are 0.
  static HEED_INLINE void softmax(int64_t count, int64_t H, Real* e) {
    const Reg min = Set::set1(-std::numeric_limits<Real>::infinity());
    for (int64_t h = 0; h < H; h += kLanes) {
      Reg top = min, total = Set::zero();
      for (int64_t k = 0; k < count; ++k) top = Set::max(load_heads(e + k * H + h, H - h), top);
      top = Set::select(Set::equal(top, min), Set::zero(), top);
      for (int64_t k = 0; k < count; ++k) {
        const Reg term = exp_below(Set::sub(load_heads(e + k * H + h, H - h), top));
        store_heads(e + k * H + h, term, H - h);
        total = Set::add(total, term);
      }
      const Reg scale = Set::select(Set::equal(total, Set::zero()), total, Set::div(Set::set1(1), total));
      for (int64_t k = 0; k < count; ++k)
        store_heads(e + k * H + h, Set::mul(scale, load_heads(e + k * H + h, H - h)), H - h);
    }
  }

  /// In place: gradients of the weights become those of the scores, de = a (da - sum a da), and 0 where a = 0.
  static HEED_INLINE void softmax_backward(int64_t count, int64_t H, const Real* weights, Real* grad) {
    for (int64_t h = 0; h < H; h += kLanes) {
      Reg mean = Set::zero();
      for (int64_t k = 0; k < count; ++k) {
        const Reg a = load_heads(weights + k * H + h, H - h), da = load_heads(grad + k * H + h, H - h);
        mean = Set::add(mean, Set::select(Set::equal(a, Set::zero()), a, Set::mul(a, da)));
      }
      for (int64_t k = 0; k < count; ++k) {
        const Reg a = load_heads(weights + k * H + h, H - h), da = load_heads(grad + k * H + h, H - h);
        store_heads(grad + k * H + h, Set::select(Set::equal(a, Set::zero()), a, Set::mul(a, Set::sub(da, mean))),
                    H - h);
      }
    }
  }

  // ---- weighted sum

  /// c [H, D] = sum of weight x row. Rows of weight 0 are not read.
  static HEED_INLINE void sum(const Values<Real>& p, const Run& run, const Real* weights, Real* c) {
    const int64_t H = p.heads, D = width(p.width), row = H * D;
    if (run.count == 0) std::memset(c, 0, static_cast<size_t>(row) * sizeof(Real));
    for (int64_t k = 0; k < run.count; k += kBlock) {
      const int64_t n = block_of(run, k);
      fetch(run.other, run.left, k, n, p.rows, row);
      add_rows(H, D, p.rows, run.other + k, n, weights + k * H, k == 0, c);
    }
  }
  /// Adds n rows times the weights [n, H] to c. fresh: c is uninitialized and is overwritten.
  static HEED_INLINE void add_rows(int64_t H, int64_t D, const Real* rows, const int32_t* which, int64_t n,
                                   const Real* weights, bool fresh, Real* c) {
    for (int64_t h = 0; h < H; ++h)
      for (int64_t d = 0; d < D; d += kStrip) {
        const int64_t at = h * D + d;
        Strip total = fresh ? zero() : load(c + at, D - d);
        for (int64_t q = 0; q < n; ++q)
          if (const Real by = weights[q * H + h]; by != 0)
            add_scaled(total, by, load(rows + which[q] * H * D + at, D - d));
        store(c + at, total, D - d);
      }
  }
  /// Gradients of the weights: grad = (dc . row) factor + grad_weights.
  static HEED_INLINE void sum_receive(const GraphPass<Real>& w, int64_t i, const Run& run, Real* grad) {
    const auto& p = w.values;
    const int64_t H = p.heads, D = width(p.width), row = H * D;
    for (int64_t k = 0; k < run.count; k += kBlock) {
      const int64_t n = block_of(run, k);
      fetch(run.other, run.left, k, n, p.rows, row);
      for (int64_t h = 0; h < H; ++h)
        for (int64_t d = 0; d < D; d += kStrip) {
          const int64_t at = h * D + d;
          const Strip g = load(w.grad_context + i * row + at, D - d);
          for (int64_t q = k; q < k + n; ++q) {
            const Real part = dot(g, load(p.rows + run.other[q] * row + at, D - d));
            grad[q * H + h] = d == 0 ? part : grad[q * H + h] + part;
          }
        }
    }
    const int64_t first = run.first * H, all = run.count * H;
    if (w.factor != nullptr)
      for (int64_t k = 0; k < all; ++k) grad[k] = w.factor[first + k] == 0 ? 0 : grad[k] * w.factor[first + k];
    if (w.grad_weights != nullptr)
      for (int64_t k = 0; k < all; ++k) grad[k] += w.grad_weights[first + k];
  }

  // ---- sending node

  /// Copies rows [H] of the edges of a block to contiguous memory, times factor if it is not null.
  static HEED_INLINE void gather(int64_t H, const int32_t* position, int64_t n, const Real* rows, const Real* factor,
                                 Real* __restrict to) {
    for (int64_t q = 0; q < n; ++q)
      for (int64_t h = 0; h < H; ++h) {
        const int64_t at = position[q] * H + h;
        to[q * H + h] = factor == nullptr ? rows[at] : rows[at] * factor[at];
      }
  }
  static HEED_INLINE void send(const GraphPass<Real>& w, int64_t j, const Run& run, Real* buffer) {
    const int64_t H = w.score.heads > 0 ? w.score.heads : w.values.heads;
    Real *weights = buffer, *grads = buffer + kBlock * H;
    const bool by_values = w.grad_values != nullptr, by_scores = w.grads.sender != nullptr;
    const int64_t value_row = H * width(w.values.width), score_row = H * width(w.score.width);
    if (by_values && run.count == 0)
      std::memset(w.grad_values + j * value_row, 0, static_cast<size_t>(value_row) * sizeof(Real));
    if (by_scores && (run.count == 0 || w.score.to_scores == nullptr)) {
      const int64_t row = w.score.to_scores == nullptr ? H : score_row;
      std::memset(w.grads.sender + j * row, 0, static_cast<size_t>(row) * sizeof(Real));
    }
    for (int64_t k = 0; k < run.count; k += kBlock) {
      const int64_t n = block_of(run, k);
      if (by_values) {
        fetch(run.other, run.left, k, n, w.grad_context, value_row);
        fetch(run.position, run.left, k, n, w.weights, H);
        gather(H, run.position + k, n, w.weights, w.factor, weights);
        add_rows(H, width(w.values.width), w.grad_context, run.other + k, n, weights, k == 0,
                 w.grad_values + j * value_row);
      }
      if (!by_scores) continue;
      fetch(run.position, run.left, k, n, w.grad_edge, H);
      gather(H, run.position + k, n, w.grad_edge, nullptr, grads);
      if (w.score.to_scores == nullptr) {
        Real* __restrict dt = w.grads.sender + j * H;
        for (int64_t q = 0; q < n; ++q)
          for (int64_t h = 0; h < H; ++h) dt[h] += grads[q * H + h];
      } else {
        fetch(run.other, run.left, k, n, w.score.receiver, score_row);
        hidden_send(w, j, run.other + k, n, grads, k == 0);
      }
    }
  }
  static HEED_INLINE void hidden_send(const GraphPass<Real>& w, int64_t j, const int32_t* other, int64_t n,
                                      const Real* de, bool fresh) {
    const auto& p = w.score;
    const int64_t H = p.heads, D = width(p.width), row = H * D;
    const Reg negative_slope = Set::set1(p.negative_slope);
    Real* dr = w.grads.sender + j * row;
    for (int64_t h = 0; h < H; ++h)
      for (int64_t d = 0; d < D; d += kStrip) {
        const int64_t at = h * D + d, left = D - d;
        const Strip r = load(p.sender + j * row + at, left), a = load(p.to_scores + at, left);
        Strip total = fresh ? zero() : load(dr + at, left);
        for (int64_t q = 0; q < n; ++q) {
          const Strip x = plus(load(p.receiver + other[q] * row + at, left), r);
          add_scaled(total, de[q * H + h], leaky_backward(x, a, negative_slope));
        }
        store(dr + at, total, left);
      }
  }

  // ---- ranges of nodes

  static void forward_nodes(const GraphPass<Real>& w, int64_t from, int64_t to, Real* buffer) {
    const bool scored = w.score.receiver != nullptr;
    const int64_t H = scored ? w.score.heads : w.values.heads;
    for (int64_t i = from; i < to; ++i) {
      const Run run = run_of(w.in, i);
      Real* e = w.fresh == nullptr ? buffer : w.fresh + run.first * H;
      if (scored) score(w.score, i, run, e);
      if (w.soft) softmax(run.count, H, e);
      if (w.context == nullptr) continue;
      const Real* weights = scored ? e : w.weights + run.first * H;
      if (w.factor != nullptr) {
        Real* passed = buffer + (w.fresh == nullptr ? run.count * H : 0);
        for (int64_t k = 0; k < run.count * H; ++k) passed[k] = weights[k] * w.factor[run.first * H + k];
        weights = passed;
      }
      sum(w.values, run, weights, w.context + i * H * width(w.values.width));
    }
  }

  static void receive_nodes(const GraphPass<Real>& w, int64_t from, int64_t to, Real* to_scores) {
    const bool scored = w.score.receiver != nullptr;
    const int64_t H = scored ? w.score.heads : w.values.heads;
    for (int64_t i = from; i < to; ++i) {
      const Run run = run_of(w.in, i);
      Real* grad = w.grad_edge + run.first * H;
      if (scored && w.score.to_scores == nullptr) fetch(run.other, run.left, 0, run.count, w.score.sender, H);
      if (w.grad_context != nullptr) sum_receive(w, i, run, grad);
      if (w.soft) softmax_backward(run.count, H, w.weights + run.first * H, grad);
      if (scored) score_receive(w, i, run, grad, to_scores);
    }
  }

  static void send_nodes(const GraphPass<Real>& w, int64_t from, int64_t to, Real* buffer) {
    for (int64_t j = from; j < to; ++j) send(w, j, run_of(w.out, j), buffer);
  }
};

/// The kernels of an instruction set.
template <class Set>
struct Table {
  using Real = typename Set::Real;

  /// The template argument of Node: the width of the values and, in GATv2, of the scores; 0 if they differ.
  static HEED_INLINE int64_t width(const GraphPass<Real>& w) {
    const bool hidden = w.score.to_scores != nullptr, summed = w.values.width > 0;
    if (!hidden) return w.values.width;
    return !summed || w.values.width == w.score.width ? w.score.width : 0;
  }
  static void forward(const GraphPass<Real>& w, int64_t from, int64_t to, Real* buffer) {
    switch (width(w)) {
      case 8:
        return Node<Set, 8>::forward_nodes(w, from, to, buffer);
      case 16:
        return Node<Set, 16>::forward_nodes(w, from, to, buffer);
      case 32:
        return Node<Set, 32>::forward_nodes(w, from, to, buffer);
      case 64:
        return Node<Set, 64>::forward_nodes(w, from, to, buffer);
      default:
        return Node<Set, 0>::forward_nodes(w, from, to, buffer);
    }
  }
  static void receive(const GraphPass<Real>& w, int64_t from, int64_t to, Real* to_scores) {
    switch (width(w)) {
      case 8:
        return Node<Set, 8>::receive_nodes(w, from, to, to_scores);
      case 16:
        return Node<Set, 16>::receive_nodes(w, from, to, to_scores);
      case 32:
        return Node<Set, 32>::receive_nodes(w, from, to, to_scores);
      case 64:
        return Node<Set, 64>::receive_nodes(w, from, to, to_scores);
      default:
        return Node<Set, 0>::receive_nodes(w, from, to, to_scores);
    }
  }
  static void send(const GraphPass<Real>& w, int64_t from, int64_t to, Real* buffer) {
    switch (width(w)) {
      case 8:
        return Node<Set, 8>::send_nodes(w, from, to, buffer);
      case 16:
        return Node<Set, 16>::send_nodes(w, from, to, buffer);
      case 32:
        return Node<Set, 32>::send_nodes(w, from, to, buffer);
      case 64:
        return Node<Set, 64>::send_nodes(w, from, to, buffer);
      default:
        return Node<Set, 0>::send_nodes(w, from, to, buffer);
    }
  }
  static constexpr Kernels<Real> kKernels{Set::kName, forward, receive, send};
};

}  // namespace heed::kernels::cpu::graph
