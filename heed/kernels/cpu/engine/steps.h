// The steps applied to a tile of scores between score and alignment, and to the weights after it:
//
//   activation -> scale -> soft cap -> biases -> mask -> Gaussian, Gumbel noise    [alignment]    -> dropout
//
// An absent score (masked, or padding of a panel) is -inf from the mask on.

#pragma once

#include <cmath>
#include <limits>

#include "heed/kernels/cpu/engine/noise.h"
#include "heed/kernels/cpu/simd/functions.h"
#include "heed/kernels/cpu/tiles/panels.h"
#include "heed/kernels/cpu/tiles/score_tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels::cpu {

struct Range {
  int64_t first, last;
};

/// A block of queries.
struct Block {
  int64_t batch, head, query;
  int rows;
};

template <class V>
class Steps {
 public:
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  using F = Functions<V>;
  static constexpr Real kNone = -std::numeric_limits<Real>::infinity();

  Steps(const Problem<Real>& p, const LaterSteps<Real>& later)
      : p_(p), activation_(later.activation), scale_(later.scale), keys_(later.keys), biased_(p.bias.any()) {}

  // ---- ranges of keys ----

  Range range(int64_t batch, int64_t head, int64_t query) const {
    const Keep& m = p_.mask;
    Range k{0, keys_};
    const int64_t position = query + m.first_position;
    if (m.key_count != nullptr) narrow(k, 0, m.key_count[batch]);
    if (m.causal) narrow(k, 0, position + 1);
    if (m.left >= 0) narrow(k, position - m.left, k.last);
    if (m.right >= 0) narrow(k, 0, position + m.right + 1);
    if (m.center != nullptr) {
      const int64_t center = m.center[p_.row_index(batch, head, query)];
      narrow(k, center - m.reach, center + m.reach + 1);
    }
    return k;
  }
  /// The keys that some row of the block may attend, and those that all its rows may attend (`keep` aside).
  void ranges(const Block& at, Range& any, Range& all) const {
    any = {std::numeric_limits<int64_t>::max(), 0};
    all = {0, std::numeric_limits<int64_t>::max()};
    for (int r = 0; r < at.rows; ++r) {
      const Range k = range(at.batch, at.head, at.query + r);
      if (k.first < k.last) {
        any.first = k.first < any.first ? k.first : any.first;
        any.last = k.last > any.last ? k.last : any.last;
      }
      all.first = k.first > all.first ? k.first : all.first;
      all.last = k.last < all.last ? k.last : all.last;
    }
  }

  // ---- activation, scale, soft cap ----

  bool has_activation() const { return activation_ != Activation::identity || scale_ != 1 || p_.soft_cap > 0; }

  /// Upper bound of |result of activation()| if |input| is at most `bound`; infinity if later steps change scores.
  Real bound(Real bound) const {
    if (activation_ != Activation::identity) bound = F::bound(activation_);
    bound *= std::fabs(scale_);
    if (p_.soft_cap > 0 && !(bound < p_.soft_cap)) bound = p_.soft_cap;
    return plain() ? bound : std::numeric_limits<Real>::infinity();
  }

  void activation(int rows, int columns, Real* s) const {
    const Reg scale = V::set1(scale_), cap = V::set1(p_.soft_cap), over = V::set1(1 / p_.soft_cap);
    for (int r = 0; r < rows; ++r, s += kTile)
      for (int c = 0; c < columns; c += V::kLanes) {
        Reg x = V::load(s + c);
        if (activation_ != Activation::identity) x = F::activate(activation_, x);
        x = V::mul(x, scale);
        if (p_.soft_cap > 0) x = V::mul(cap, F::tanh(V::mul(x, over)));
        V::store(s + c, x);
      }
  }
  /// In place: ds holds gradients with respect to the result of activation(); they become those of its input x.
  void activation_backward(int columns, const Real* x, Real* ds) const {
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg in = V::load(x + c);
      Reg grad = V::mul(V::load(ds + c), V::set1(scale_));
      if (p_.soft_cap > 0) {
        const Reg t = F::tanh(V::mul(V::mul(F::activate(activation_, in), V::set1(scale_)), V::set1(1 / p_.soft_cap)));
        grad = V::mul(grad, V::fnma(t, t, V::set1(1)));
      }
      if (activation_ != Activation::identity) grad = V::mul(grad, F::activation_backward(activation_, in));
      V::store(ds + c, grad);
    }
  }

  /// Whether no step applies between score and alignment, apart from ranges of keys.
  bool silent() const { return !has_activation() && !biased_ && !p_.mask.keep && !perturbs(); }

  // ---- biases and mask ----

  /// Adds the biases and masks. s holds keys key ... key + columns - 1; all: keys that every row may attend.
  void apply_mask(const Block& at, const Range& all, int64_t key, int columns, Real* s) const {
    if (biased_)
      for (int r = 0; r < at.rows; ++r) add_biases(at, r, key, columns, s + r * kTile);
    const bool inside = all.first <= key && key + columns <= all.last;
    if (inside && !p_.mask.keep) return;
    const Reg none = V::set1(kNone);
    for (int r = 0; r < at.rows; ++r) {
      Real* row = s + r * kTile;
      const Range k = range(at.batch, at.head, at.query + r);
      for (int c = 0; c < columns; c += V::kLanes) {
        const int64_t first = k.first - key - c, last = k.last - key - c;
        if (first > 0 || last < V::kLanes) V::store(row + c, V::select(V::lanes(first, last), V::load(row + c), none));
      }
      if (p_.mask.keep) keep(at, r, key, columns, row);
    }
  }

  // ---- local_p and Gumbel ----

  bool perturbs() const {
    return p_.gauss == Gauss::add || p_.gauss == Gauss::multiply || p_.perturb || p_.temperature != 1;
  }

  /// log g of keys key, key + 1, ..., one per lane.
  Reg log_gauss(int64_t row_index, int64_t key) const {
    const Reg off = V::sub(V::iota(Real(key)), V::set1(p_.position[row_index]));
    return V::mul(V::mul(off, off), V::set1(-1 / (2 * p_.sigma * p_.sigma)));
  }

  void perturb(const Block& at, int64_t key, int columns, Real* s) const {
    const Reg none = V::set1(kNone), cool = V::set1(1 / p_.temperature);
    for (int r = 0; r < at.rows; ++r, s += kTile) {
      const int64_t index = p_.row_index(at.batch, at.head, at.query + r);
      for (int c = 0; c < columns; c += V::kLanes) {
        Reg x = V::load(s + c);
        if (p_.gauss == Gauss::add) x = V::add(x, log_gauss(index, key + c));
        if (p_.gauss == Gauss::multiply)
          x = V::select(V::equal(x, none), none, V::mul(x, F::exp(log_gauss(index, key + c))));
        V::store(s + c, x);
      }
      if (!p_.perturb && p_.temperature == 1) continue;
      for (int c = 0; c < columns; c += kPanel) {
        alignas(64) Real u[kPanel];
        if (p_.perturb) uniforms(kAlignment, at, r, key + c, u);
        for (int i = 0; i < kPanel && c + i < columns; i += V::kLanes) {
          Reg x = V::load(s + c + i);
          if (p_.perturb) x = V::add(x, gumbel(V::load(u + i)));
          V::store(s + c + i, V::mul(x, cool));
        }
      }
    }
  }
  /// In place: ds becomes the gradient with respect to the input e of perturb(). Returns the gradient with respect to
  /// the position p.
  Real perturb_backward(const Block& at, int r, int64_t key, int columns, const Real* e, Real* ds) const {
    const int64_t index = p_.row_index(at.batch, at.head, at.query + r);
    const Reg cool = V::set1(1 / p_.temperature), narrow = V::set1(1 / (p_.sigma * p_.sigma));
    Reg position = V::zero();
    for (int c = 0; c < columns; c += V::kLanes) {
      Reg grad = V::mul(V::load(ds + c), cool);
      if (p_.gauss == Gauss::add || p_.gauss == Gauss::multiply) {
        const Reg off = V::sub(V::iota(Real(key + c)), V::set1(p_.position[index]));
        if (p_.gauss == Gauss::multiply) {
          const Reg x = V::load(e + c), g = F::exp(log_gauss(index, key + c));
          grad = V::mul(grad, g);  // an absent score is -inf: 0 times -inf would be NaN
          const Reg known = V::select(V::equal(x, V::set1(kNone)), V::zero(), x);
          position = V::fma(V::mul(grad, known), V::mul(off, narrow), position);
        } else {
          position = V::fma(grad, V::mul(off, narrow), position);
        }
      }
      V::store(ds + c, grad);
    }
    return V::sum(position);
  }

  // ---- noise ----

  /// Uniform random numbers for 64 keys.
  void uniforms(Purpose purpose, const Block& at, int r, int64_t key, Real* u) const {
    const Noise<V> noise{p_.seed, static_cast<uint32_t>(p_.stream) * 4 + purpose};
    noise.uniforms(static_cast<uint32_t>((p_.first_row + at.batch) * p_.heads + at.head),
                   static_cast<uint32_t>(p_.first_query + at.query + r), key, u);
  }
  /// -log(-log u)
  static Reg gumbel(Reg u) { return F::negative(F::log(F::negative(F::log(u)))); }

  bool drops() const { return p_.dropout > 0; }
  /// Dropout factors of 64 keys: 0 or 1 / (1 - rate).
  void keeps(const Block& at, int r, int64_t key, Real* z) const {
    uniforms(kDropout, at, r, key, z);
    const Reg rate = V::set1(p_.dropout), share = V::set1(1 / (1 - p_.dropout));
    for (int i = 0; i < kPanel; i += V::kLanes)
      V::store(z + i, V::select(V::at_least(V::load(z + i), rate), share, V::zero()));
  }
  /// Dropout factor of one key.
  Real keeps_one(const Block& at, int r, int64_t key) const {
    if (!drops()) return 1;
    alignas(64) Real z[kPanel];
    keeps(at, r, key / kPanel * kPanel, z);
    return z[key % kPanel];
  }
  void drop(const Block& at, int r, int64_t key, int columns, Real* weights) const {
    alignas(64) Real z[kPanel];
    for (int c = 0; c < columns; c += kPanel) {
      keeps(at, r, key + c, z);
      for (int i = 0; i < kPanel && c + i < columns; i += V::kLanes)
        V::store(weights + c + i, V::mul(V::load(weights + c + i), V::load(z + i)));
    }
  }

 private:
  static HEED_INLINE void narrow(Range& k, int64_t first, int64_t last) {
    k.first = first > k.first ? first : k.first;
    k.last = last < k.last ? last : k.last;
  }
  /// Whether no step between soft cap and alignment changes a kept score.
  bool plain() const { return !biased_ && !perturbs(); }

  static void add(Real* s, const Real* from, int64_t step, int64_t n) {
    if (step != 1) {
      for (int64_t c = 0; c < n; ++c) s[c] += from[c * step];
      return;
    }
    int64_t c = 0;
    for (; c + V::kLanes <= n; c += V::kLanes) V::store(s + c, V::add(V::load(s + c), V::load(from + c)));
    if (c < n) V::store(s + c, V::add(V::load(s + c), V::load_some(from + c, n - c)));
  }

  void add_biases(const Block& at, int r, int64_t key, int columns, Real* s) const {
    const Biases<Real>& b = p_.bias;
    const int64_t left = p_.keys - key, n = columns < left ? columns : left, query = at.query + r;
    if (b.full) add(s, b.full.at(at.batch, at.head, query, key), b.full.key, n);
    if (b.per_key) add(s, b.per_key.at(at.batch, at.head, 0, key), b.per_key.key, n);
    const int64_t ahead = key - query - p_.mask.first_position;
    if (b.relative != nullptr) {
      const Real* row = b.relative + at.head * b.relative_head + b.relative_reach;
      for (int64_t c = 0; c < n; ++c) {
        const int64_t far = ahead + c;
        s[c] += row[far < -b.relative_reach ? -b.relative_reach : far > b.relative_reach ? b.relative_reach : far];
      }
    }
    if (b.alibi != nullptr) {
      const Reg alibi_slope = V::set1(b.alibi[at.head]);
      for (int64_t c = 0; c < n; c += V::kLanes)
        V::store(s + c, V::fnma(alibi_slope, V::abs(V::iota(Real(ahead + c))), V::load(s + c)));
    }
  }

  void keep(const Block& at, int r, int64_t key, int columns, Real* s) const {
    const Grid<const uint8_t>& k = p_.mask.keep;
    const Reg none = V::set1(kNone);
    const uint8_t* from = k.at(at.batch, at.head, at.query + r, key);
    for (int c = 0; c < columns; c += V::kLanes) {
      alignas(16) uint8_t some[kPad];
      const uint8_t* bytes = from + c;
      if (k.key != 1 || key + c + kPad > p_.keys) {
        for (int i = 0; i < V::kLanes; ++i) some[i] = key + c + i < p_.keys ? from[(c + i) * k.key] : uint8_t{0};
        bytes = some;
      }
      V::store(s + c, V::select(V::bytes(bytes), V::load(s + c), none));
    }
  }

  const Problem<Real>& p_;
  Activation activation_;
  Real scale_;
  int64_t keys_;
  bool biased_;
};

}  // namespace heed::kernels::cpu
