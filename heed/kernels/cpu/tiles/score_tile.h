// A score tile: the part of a kernel that depends on the score.
//
// A tile covers a few queries of one head and the keys of whole panels; its scores are s[row * kTile + column].
// One object serves one thread at a time and moves from block to block of queries.

#pragma once

#include "heed/kernels/cpu/engine/memory.h"
#include "heed/kernels/cpu/tiles/panels.h"
#include "heed/kernels/cpu/traits.h"
#include "heed/kernels/problem.h"

namespace heed::kernels::cpu {

inline constexpr int kRowsMax = 96;  // maximal number of queries in a block
inline constexpr int kFewQueries =
    4;  // with fewer queries keys are read unpacked: packing would cost more than it saves

/// Whether keys are packed (panels.h) before they are scored. A tile reads unpacked rows where they are not.
enum class Packing { never, for_many_queries, always };

/// What a tile leaves to the steps between score and alignment (steps.h).
template <typename Real>
struct LaterSteps {
  Activation activation;
  Real scale;
  int64_t keys;  // keys from here on have no score and are masked
};

template <class V>
class ScoreTile {
 public:
  using Real = typename V::Real;
  using Reg = typename V::Reg;

  /// Data that all tiles of a call share.
  struct Shared {
    const Problem<Real>& p;
    LaterSteps<Real> later;
    const Real* panels = nullptr;         // [batch][key head]: packed keys; null: unpacked rows are read
    int64_t panels_step = 0;              // stride from one key head to the next
    const Real* panel_numbers = nullptr;  // [batch][key head][panel][panel_numbers()]
    int64_t panel_numbers_step = 0;       // stride from one panel to the next
    const Real* head_numbers = nullptr;   // [head][head_numbers()]
  };
  /// The keys of one panel. Those from `known` on may not be attended and are not read.
  struct PanelKeys {
    const Real* rows;
    int64_t count, known;
  };

  // ---- traits: a tile declares those in which it differs; the engine asks for them through the table

  static constexpr ScoreTraits kTraits{};
  static constexpr Packing kPacking = Packing::for_many_queries;
  /// Whether the rows of a group decide together by which of several formulas they are scored.
  static constexpr bool kFormulaOfGroup = false;
  static LaterSteps<Real> later(const Problem<Real>& p) { return {Activation::identity, p.scale, p.keys}; }
  /// Constants that fold() derives from the parameters of a head, once per call: how many numbers.
  static int64_t head_numbers(const Problem<Real>&) { return 0; }
  static void fold(const Problem<Real>&, int64_t /*head*/, Real* /*to*/) {}
  /// What pack() finds out about the keys of a panel: how many numbers.
  static int64_t panel_numbers(const Problem<Real>&) { return 0; }
  static void pack(const Problem<Real>& p, const PanelKeys& keys, Real* to, Real* /*numbers*/) {
    pack_panel(
        p, keys, to, [](Reg x) { return x; }, [](int64_t) {});
  }

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
  /// Transposes 16 keys at a time, with `map` applied to their features; after(f) follows the last key of the features
  /// f, f + 1, ... of one register.
  template <class Map, class After>
  static void pack_panel(const Problem<Real>& p, const PanelKeys& keys, Real* to, Map map, After after) {
    const int64_t n = Panels<V>::padded(keys.count), width = Panels<V>::padded(p.width);
    alignas(64) Real block[kPad][V::kLanes];
    for (int64_t f = 0; f < width; f += V::kLanes) {
      const int64_t features = p.width - f < V::kLanes ? p.width - f : V::kLanes;
      const int64_t left = Panels<V>::by_four(p.width) - f;
      for (int64_t j = 0; j < n; j += kPad) {
        for (int64_t i = 0; i < kPad; ++i) {
          Reg x = V::zero();
          if (j + i < keys.known) {
            const Real* from = keys.rows + (j + i) * p.key_rows.row + f;
            x = map(features == V::kLanes ? V::load(from) : V::load_some(from, features > 0 ? features : 0));
          }
          V::store(block[i], x);
        }
        Panels<V>::transpose(block, left < V::kLanes ? left : V::kLanes, to + f * n + j, n);
      }
      after(f);
    }
  }

  Panels<V> panels() const {
    return {p_.keys, Panels<V>::by_four(p_.width),
            shared_.panels + (batch_ * p_.key_heads + key_head_) * shared_.panels_step};
  }
  const Real* numbers_of(int64_t panel) const {
    const int64_t count = (p_.keys + kPanel - 1) / kPanel;
    return shared_.panel_numbers + ((batch_ * p_.key_heads + key_head_) * count + panel) * shared_.panel_numbers_step;
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
