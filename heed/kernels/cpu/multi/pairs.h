// The keys of a tile that a query attends, the biases of their scores, and the dropout factors of their weights.
//
// Lanes are channels, so a masked pair need not be scored: kernels iterate over a list of kept keys.

#pragma once

#include <limits>

#include "heed/kernels/cpu/engine/noise.h"
#include "heed/kernels/cpu/multi/attend.h"
#include "heed/kernels/cpu/tiles/panels.h"

namespace heed::kernels::cpu {

inline constexpr int kMultiTile = 48;  // maximal number of keys in a tile

template <class V>
class MultiPairs {
 public:
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  static constexpr Real kNone = -std::numeric_limits<Real>::infinity();

  MultiPairs(const MultiProblem<Real>& p, int64_t elements) : p_(p), elements_(elements) {
    for (int32_t n = 0; n < kMultiTile; ++n) all_[n] = n;
  }

  int count = 0;
  const int32_t* key = nullptr;  // [count], relative to the first key of the tile
  const Real* added() const { return p_.bias.any() ? added_ : nullptr; }  // [count]: biases times log2 e; null: none

  /// Lists the kept keys among first ... last - 1. A bias of -inf masks.
  void find(int64_t b, int64_t h, int64_t i, int64_t first, int64_t last) {
    b_ = b, h_ = h, i_ = i, first_ = first;
    key = some_;
    count = 0;
    int64_t from = first, to = last;
    narrow(from, to);
    if (!p_.mask.keep && !p_.bias.any()) {
      key = all_ + (from - first);
      count = from < to ? static_cast<int>(to - from) : 0;
      return;
    }
    for (int64_t j = from; j < to; ++j) {
      if (p_.mask.keep && *p_.mask.keep.at(b, h, i, j) == 0) continue;
      const Real more = bias(j);
      if (more == kNone) continue;
      added_[count] = more * Real(kLog2E);
      some_[count++] = static_cast<int32_t>(j - first);
    }
  }

  /// Keeps the keys j with tame[j] in the list, moves the others to `wild` and returns their number. Needs no biases.
  int part(const uint8_t* tame, int32_t* wild) {
    int tamed = 0, others = 0;
    for (int n = 0; n < count; ++n) {
      const int32_t k = key[n];
      if (tame[k] != 0)
        some_[tamed++] = k;  // key may be some_: tamed <= n
      else
        wild[others++] = k;
    }
    key = some_;
    count = tamed;
    return others;
  }

  /// Dropout factors of n keys, [n][stride]: 0 or 1 / (1 - rate).
  void draw(const int32_t* keys, int n, Real* factors, int64_t stride) const {
    const Noise<V> noise{p_.seed, static_cast<uint32_t>(p_.stream) * 4 + kDropout};
    const auto row = static_cast<uint32_t>((p_.first_row + b_) * p_.heads + h_);
    const auto query = static_cast<uint32_t>(p_.first_query + i_);
    const Reg rate = V::set1(p_.dropout), share = V::set1(1 / (1 - p_.dropout));
    alignas(64) Real u[2 * kPanel];  // two panels of elements; the first is `held`
    int64_t held = -1;
    bool second = false;
    for (int k = 0; k < n; ++k, factors += stride) {
      const int64_t element = (first_ + keys[k]) * elements_;
      for (int64_t c = 0; c < p_.channels; c += kPad) {
        const int64_t from = (element + c) / kPanel * kPanel, off = element + c - from;
        if (from != held) {
          if (second && from == held + kPanel)
            for (int l = 0; l < kPanel; l += V::kLanes) V::store(u + l, V::load(u + kPanel + l));
          else
            noise.uniforms(row, query, from, u);
          held = from;
          second = false;
        }
        if (off + kPad > kPanel && !second) {
          noise.uniforms(row, query, from + kPanel, u + kPanel);
          second = true;
        }
        for (int64_t l = 0; l < kPad; l += V::kLanes)
          V::store(factors + c + l, V::select(V::at_least(V::load(u + off + l), rate), share, V::zero()));
      }
    }
  }

  /// Adds grads, the gradients of the scores of these pairs, to those of the biases. relative, alibi: of this head.
  void add_gradients(const MultiGradients<Real>& g, const Real* grads, Real* relative, Real* alibi) const {
    for (int n = 0; n < count; ++n) {
      const int64_t j = first_ + key[n];
      if (g.full) *g.full.at(b_, h_, i_, j) += grads[n];
      if (g.per_key) *g.per_key.at(b_, h_, i_, j) += grads[n];
      if (relative != nullptr) relative[clipped(j)] += grads[n];
      if (alibi != nullptr) *alibi -= grads[n] * Real(apart(j));
    }
  }

 private:
  int64_t position() const { return i_ + p_.mask.first_position; }
  int64_t apart(int64_t j) const { return j < position() ? position() - j : j - position(); }
  int64_t clipped(int64_t j) const {
    const int64_t reach = p_.bias.relative_reach, ahead = j - position();
    return (ahead < -reach ? -reach : ahead > reach ? reach : ahead) + reach;
  }

  void narrow(int64_t& from, int64_t& to) const {
    const Keep& m = p_.mask;
    const auto within = [&](int64_t first, int64_t last) {
      from = first > from ? first : from;
      to = last < to ? last : to;
    };
    if (m.key_count != nullptr) within(0, m.key_count[b_]);
    if (m.causal) within(0, position() + 1);
    if (m.left >= 0) within(position() - m.left, to);
    if (m.right >= 0) within(0, position() + m.right + 1);
    if (m.center != nullptr) {
      const int64_t center = m.center[p_.row_index(b_, h_, i_)];
      within(center - m.reach, center + m.reach + 1);
    }
  }

  Real bias(int64_t j) const {
    const Biases<Real>& x = p_.bias;
    Real sum = 0;
    if (x.full) sum += *x.full.at(b_, h_, i_, j);
    if (x.per_key) sum += *x.per_key.at(b_, h_, 0, j);
    if (x.relative != nullptr) sum += x.relative[h_ * x.relative_head + clipped(j)];
    if (x.alibi != nullptr) sum -= x.alibi[h_] * Real(apart(j));
    return sum;
  }

  const MultiProblem<Real>& p_;
  int64_t elements_;
  int64_t b_ = 0, h_ = 0, i_ = 0, first_ = 0;
  int32_t all_[kMultiTile], some_[kMultiTile];
  Real added_[kMultiTile];
};

}  // namespace heed::kernels::cpu
