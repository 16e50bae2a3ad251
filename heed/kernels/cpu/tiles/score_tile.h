// A score tile: the part of a kernel that depends on the score.
//
// A tile covers a few queries of one head and the keys of whole panels; its scores are s[row * kTile + column].
// One object serves one thread at a time and moves from block to block of queries.

#pragma once

#include "heed/kernels/cpu/engine/memory.h"
#include "heed/kernels/cpu/problem.h"
#include "heed/kernels/cpu/tiles/panels.h"

namespace heed::kernels::cpu {

inline constexpr int kRowsMax = 96;  // maximal number of queries in a block
inline constexpr int kFewQueries =
    4;  // with fewer queries keys are read unpacked: packing would cost more than it saves

template <class V>
class ScoreTile {
 public:
  using Real = typename V::Real;

  /// Data that all tiles of a call share.
  struct Shared {
    const Problem<Real>& p;
    const Real* panels = nullptr;  // [batch][key head]: packed keys; null: unpacked rows are read
    int64_t panels_step = 0;       // stride from one key head to the next
    const Real* ranges = nullptr;  // [batch][key head][panel][padded width + 1]: largest entries, for range checks
    int64_t ranges_step = 0;
    const Real* folds = nullptr;    // additive: constants derived from each head's w
    const Real* longest = nullptr;  // dot: the norm of the longest key, [batch][key head]
  };

  explicit ScoreTile(const Shared& shared) : shared_(shared), p_(shared.p), width_(Panels<V>::padded(shared.p.width)) {}
  virtual ~ScoreTile() = default;

  /// Number of rows that scores() handles best at a time.
  virtual int group() const = 0;
  /// Upper bound of |score| in the block; infinity if none is known.
  virtual Real bound() const { return std::numeric_limits<Real>::infinity(); }

  /// Moves to a block of queries.
  virtual void begin(int64_t batch, int64_t head, int64_t query, int rows) {
    batch_ = batch;
    head_ = head;
    key_head_ = head / p_.group();
    query_ = query;
    rows_ = rows;
  }
  /// Computes the scores of rows row ... row + rows - 1 of the block against panels panel ... panel + count - 1.
  virtual void scores(int row, int rows, int64_t panel, int count, Real* s) = 0;

  /// As scores(), but each score e becomes 2^(e log2(e) + minus_top) while it is still in a register; the sums of the
  /// rows are added to sums[row][lane]. Only if fuses_exp2().
  virtual bool fuses_exp2() const { return false; }
  virtual void exp2(int /*row*/, int /*rows*/, int64_t /*panel*/, int /*count*/, Real /*minus_top*/, Real* /*s*/,
                    Real* /*sums*/) {}

  /// Backward: from the gradients of the scores of the whole block, ds[row * ld + column] for keys key ... key + keys -
  /// 1, adds the gradients with respect to the query [rows][padded width], the keys [keys][padded width] and w [padded
  /// width]. fresh: `keys` is uninitialized and is overwritten instead.
  virtual void begin_keys(int64_t batch, int64_t key_head, int64_t key, int keys) = 0;
  virtual void gradients(const Real* ds, int ld, Real* query, Real* keys, bool fresh, Real* to_scores) = 0;
  /// Multiplies finished rows by the constant factor that gradients() leaves out.
  virtual void close_query(int64_t /*head*/, Real* /*rows*/, int64_t /*count*/) const {}
  virtual void close_keys(int64_t /*head*/, Real* /*rows*/, int64_t /*count*/) const {}

 protected:
  Panels<V> panels() const {
    return {p_.keys, Panels<V>::by_four(p_.width),
            shared_.panels + (batch_ * p_.key_heads + key_head_) * shared_.panels_step};
  }
  const Real* key_row(int64_t key) const { return p_.key_rows.at(batch_, key_head_, key); }

  /// Applies `map` to rows and writes them padded with zeros after the last feature.
  template <class Map>
  void copy(const Real* from, int64_t stride, int64_t count, Real* to, Map map) const {
    for (int64_t i = 0; i < count; ++i, from += stride, to += width_) {
      int64_t f = 0;
      for (; f + V::kLanes <= p_.width; f += V::kLanes) V::store(to + f, map(V::load(from + f)));
      for (; f < width_; f += V::kLanes) {
        const int64_t left = p_.width > f ? p_.width - f : 0;
        V::store(to + f, V::select(V::lanes(0, left), map(V::load_some(from + f, left)), V::zero()));
      }
    }
  }
  void clear_keys(Real* keys) const {
    for (int64_t i = 0; i < keys_ * width_; i += V::kLanes) V::store(keys + i, V::zero());
  }
  static Real* buffer(Slot slot, int64_t numbers) {
    return static_cast<Real*>(scratch(slot, static_cast<size_t>(numbers) * sizeof(Real)));
  }

  const Shared shared_;
  const Problem<Real>& p_;
  int64_t width_;  // padded
  int64_t batch_ = 0, head_ = 0, key_head_ = 0, query_ = 0;
  int rows_ = 0;
  int64_t key_ = 0;
  int keys_ = 0;
};

}  // namespace heed::kernels::cpu
