// A score tile: what varies in a score.
//
// A tile covers a few queries of one head and the keys of whole panels; its scores stand in s[row * kTile + column].
// One object serves one thread at a time and moves from block to block of queries.

#pragma once

#include "heed/kernels/fused/memory.h"
#include "heed/kernels/fused/panels.h"
#include "heed/kernels/fused/problem.h"

namespace heed::kernels::fused {

inline constexpr int kRowsMax = 96;    // queries of a block, at most
inline constexpr int kFewQueries = 4;  // below, keys are read as they are stored: packing them would cost more

template <class V>
class ScoreTile {
 public:
  using Real = typename V::Real;

  /// What all tiles of a call share.
  struct Shared {
    const Problem<Real>& p;
    const Real* panels = nullptr;  // [batch][key head]: packed keys; null: rows are read
    int64_t panels_step = 0;       // from one key head to the next
    const Real* ranges = nullptr;  // [batch][key head][panel][padded width + 1]: largest entries, for range guards
    int64_t ranges_step = 0;
    const Real* folds = nullptr;    // additive: what each head's w gives
    const Real* longest = nullptr;  // dot: the length of the longest key, [batch][key head]
  };

  explicit ScoreTile(const Shared& shared) : shared_(shared), p_(shared.p), width_(Panels<V>::padded(shared.p.width)) {}
  virtual ~ScoreTile() = default;

  /// Rows of a register block: groups of so many are fastest.
  virtual int group() const = 0;
  /// No |score| of the block is larger; infinity where nothing is known.
  virtual Real bound() const { return std::numeric_limits<Real>::infinity(); }

  /// Moves to a block of queries.
  virtual void begin(int64_t batch, int64_t head, int64_t query, int rows) {
    batch_ = batch;
    head_ = head;
    key_head_ = head / p_.group();
    query_ = query;
    rows_ = rows;
  }
  /// The scores of rows row ... row + rows - 1 of the block, against panels panel ... panel + count - 1.
  virtual void scores(int row, int rows, int64_t panel, int count, Real* s) = 0;

  /// The same, and while they are still in registers each becomes 2^(e log2(e) + minus_top); the sums of rows are added
  /// to sums[row][lane]. Only where fuses_exp2() says so.
  virtual bool fuses_exp2() const { return false; }
  virtual void exp2(int /*row*/, int /*rows*/, int64_t /*panel*/, int /*count*/, Real /*minus_top*/, Real* /*s*/,
                    Real* /*sums*/) {}

  /// Backward: gradients of scores of the whole block, ds[row * ld + column] for keys key ... key + keys - 1, are
  /// carried over to the query [rows][padded width], the keys [keys][padded width] and w [padded width], and added
  /// there. fresh: what stands at the keys is not theirs, and is written over.
  virtual void begin_keys(int64_t batch, int64_t key_head, int64_t key, int keys) = 0;
  virtual void gradients(const Real* ds, int ld, Real* query, Real* keys, bool fresh, Real* to_scores) = 0;
  /// The factor that gradients() left out, once for each finished row.
  virtual void close_query(int64_t /*head*/, Real* /*rows*/, int64_t /*count*/) const {}
  virtual void close_keys(int64_t /*head*/, Real* /*rows*/, int64_t /*count*/) const {}

 protected:
  Panels<V> panels() const {
    return {p_.keys, Panels<V>::by_four(p_.width),
            shared_.panels + (batch_ * p_.key_heads + key_head_) * shared_.panels_step};
  }
  const Real* key_row(int64_t key) const { return p_.key_rows.at(batch_, key_head_, key); }

  /// Copies rows, with zeros after the last feature, through `map`.
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

}  // namespace heed::kernels::fused
