// Softmax weights of which some are kept and the others become 0:
//   threshold   keeps weights of at least theta: one pass for the normalizer, one for the weights
//   top_k       keeps the k largest: they are buffered during the pass for the normalizer, and their values gathered at
//               the end
// Weights that are not kept still count in the normalizer, unless renorm.

#pragma once

#include "heed/kernels/cpu/states/softmax.h"

namespace heed::kernels::cpu {

/// Base of both: the normalizer in one pass, and the gradients of filtered weights.
template <class V>
class FilterState : public SoftmaxState<V> {
 public:
  using typename RowState<V>::Real;
  using typename RowState<V>::Reg;
  using State = RowState<V>;
  using SoftmaxState<V>::SoftmaxState;

  void begin(const Block& at, Real, bool known) override {
    SoftmaxState<V>::begin(at, std::numeric_limits<Real>::infinity(), known);
  }
  bool splits() const override { return false; }
  bool rescales() const override { return false; }
  void merge(int, const RowStats<Real>&, Real*, const Real*) override {}

  /// ds = P (kept dP - delta + dlse), kept 0 or 1;   renorm: ds = a (dP - delta) + P dlse
  void gradients(int, const RowStats<Real>& known, const typename State::RowGradients& given, int64_t key, int columns,
                 Real* s, Real* dp) const override {
    alignas(64) Real weights[kTile];
    for (int c = 0; c < columns; c += V::kLanes) V::store(weights + c, V::load(s + c));
    filter(known, key, columns, weights);
    this->normalize(known, columns, s);
    const bool renorm = State::p_.renorm;
    const Reg of_kept = V::set1(renorm ? given.delta : Real(0));
    const Reg of_all = V::set1(renorm ? given.lse : given.lse - given.delta);
    for (int c = 0; c < columns; c += V::kLanes) {
      const Reg a = V::load(weights + c), p = V::load(s + c);
      const Reg ds = V::fma(p, of_all, this->times(a, V::sub(V::load(dp + c), of_kept)));
      V::store(dp + c, ds);
      V::store(s + c, a);
    }
  }
  void normalize_row(int, const RowStats<Real>& known, int64_t key, int columns, Real* s) const override {
    for (int c = 0; c < columns; c += kTile) filter(known, key + c, columns - c < kTile ? columns - c : kTile, s + c);
  }
  Real log_weight(int row, const RowStats<Real>& known, int64_t key, Real score) const override {
    return State::log_weight(row, known, key, score);
  }
  typename State::EntropyGradient entropy_gradient() const override { return State::EntropyGradient::general; }
  typename State::PairShares pair_gradients(int row, const RowStats<Real>& known, int64_t key, Real score,
                                            bool of_log) const override {
    const Real weight = State::weight_of(row, known, key, score);
    if (weight == 0) return {};
    return of_log ? typename State::PairShares{1, 1, 0} : typename State::PairShares{weight, weight, 0};
  }

 protected:
  /// Scores -> weights of at most kTile keys, in place; 0 for those that are not kept.
  virtual void filter(const RowStats<Real>& known, int64_t key, int columns, Real* s) const = 0;
};

template <class V>
class ThresholdState final : public FilterState<V> {
 public:
  using typename RowState<V>::Real;
  using typename RowState<V>::Reg;
  using State = RowState<V>;
  using FilterState<V>::FilterState;

  void begin(const Block& at, Real bound, bool known) override {
    FilterState<V>::begin(at, bound, known);
    weighing_ = false;
    for (int r = 0; r < at.rows; ++r) kept_[r] = 0;
  }
  bool reads_values() const override { return weighing_; }

  void update(int row, int rows, int64_t key, int columns, Real* s, Real*) override {
    for (int r = 0; r < rows; ++r, s += kTile) {
      RowStats<Real>& known = State::rows_[row + r];
      if (!weighing_) {
        if (State::p_.keep_best) find_best(known, key, columns, s);
        this->count(known, columns, s);
        continue;
      }
      this->normalize_row(row + r, known, key, columns, s);
      Reg sum = V::zero();
      for (int c = 0; c < columns; c += V::kLanes) sum = V::add(sum, V::load(s + c));
      kept_[row + r] += V::sum(sum);
    }
  }
  bool again() override {
    if (weighing_) return false;
    weighing_ = true;
    return true;
  }
  void finish(int row, const Rows<const Real>&, Real* context, Real*) override {
    RowStats<Real>& known = State::rows_[row];
    if (!State::p_.renorm || kept_[row] == 0) return;
    known.kept_share = kept_[row];
    this->scale_row(context, State::p_.value_width, 1 / kept_[row]);
  }

 protected:
  void filter(const RowStats<Real>& known, int64_t key, int columns, Real* s) const override {
    this->normalize(known, columns, s);
    const Reg theta = V::set1(State::p_.theta), share = V::set1(1 / known.kept_share);
    const Real best = known.key >= key && known.key < key + columns ? s[known.key - key] : Real(0);
    const bool unknown = known.sum != known.sum;
    for (int c = 0; c < columns && !unknown; c += V::kLanes) {
      const Reg p = V::load(s + c);
      V::store(s + c, V::mul(V::select(V::at_least(p, theta), p, V::zero()), share));
    }
    if (known.key >= key && known.key < key + columns && !unknown) s[known.key - key] = best / known.kept_share;
  }

 private:
  void find_best(RowStats<Real>& known, int64_t key, int columns, const Real* s) const {
    const Real tile = State::largest(s, columns);
    for (int c = 0; c < columns && tile * Real(kLog2E) > known.max; ++c)
      if (s[c] == tile) {
        known.key = static_cast<int32_t>(key + c);
        break;
      }
  }

  bool weighing_ = false;
  Real kept_[kRowsMax];
};

template <class V>
class TopKState final : public FilterState<V> {
 public:
  using typename RowState<V>::Real;
  using typename RowState<V>::Reg;
  using State = RowState<V>;
  using FilterState<V>::FilterState;

  static constexpr AlignTraits kTraits{.reads_k = true};

  void begin(const Block& at, Real bound, bool known) override {
    FilterState<V>::begin(at, bound, known);
    if (known) return;
    k_ = State::p_.k < State::p_.keys ? State::p_.k : State::p_.keys;
    capacity_ = (2 * k_ + 64 + kLongTile + kPad) / kPad * kPad + kPad;  // skewed: rows must not share a cache set
    const auto numbers = static_cast<size_t>(at.rows * capacity_);
    scores_ = static_cast<Real*>(scratch(Slot::copy, numbers * sizeof(Real)));
    keys_ = static_cast<int32_t*>(scratch(Slot::numbers, numbers * sizeof(int32_t)));
    for (int r = 0; r < at.rows; ++r) {
      size_[r] = 0;
      State::rows_[r].threshold = State::kNone;
    }
  }
  bool reads_values() const override { return false; }

  void update(int row, int rows, int64_t key, int columns, Real* s, Real*) override {
    for (int r = 0; r < rows; ++r, s += kTile) {
      RowStats<Real>& known = State::rows_[row + r];
      this->count(known, columns, s);
      Real* to = scores_ + (row + r) * capacity_;
      int32_t* numbers = keys_ + (row + r) * capacity_;
      int& size = size_[row + r];
      const Reg floor = V::set1(known.threshold);
      for (int c = 0; c < columns; c += V::kLanes) {
        const Reg x = V::load(s + c);
        const auto in = V::greater(x, floor);
        if (V::bits(in) != 0) size += V::compress(in, x, static_cast<int32_t>(key + c), to + size, numbers + size);
      }
      if (size > 2 * k_ + 64) prune(known, to, numbers, size);
    }
  }

  void finish(int row, const Rows<const Real>& values, Real* context, Real*) override {
    RowStats<Real>& known = State::rows_[row];
    Real* scores = scores_ + row * capacity_;
    int32_t* keys = keys_ + row * capacity_;
    int& size = size_[row];
    if (known.sum != known.sum) return fill_with_nan(context);
    if (size > k_) prune(known, scores, keys, size);
    Real kept = 0;
    known.threshold = std::numeric_limits<Real>::infinity();
    for (int i = 0; i < size; ++i)
      if (scores[i] <= known.threshold) {
        known.threshold = scores[i];
        known.key = keys[i];
      }
    for (int i = 0; i < size; ++i) {
      const Real weight = State::exp_below(scores[i], known.max) / known.sum;
      kept += weight;
      this->add_row(context, State::p_.value_width,
                    values.at(State::at_.batch, State::at_.head / State::p_.group(), keys[i]),
                    weight * State::steps_.keeps_one(State::at_, row, keys[i]));
    }
    if (!State::p_.renorm || kept == 0) return;
    known.kept_share = kept;
    this->scale_row(context, State::p_.value_width, 1 / kept);
  }

 protected:
  /// Keeps the scores above the threshold and, of those equal to it, the first ones, up to known.key.
  void filter(const RowStats<Real>& known, int64_t key, int columns, Real* s) const override {
    alignas(64) Real e[kTile];
    for (int c = 0; c < columns; c += V::kLanes) V::store(e + c, V::load(s + c));
    this->normalize(known, columns, s);
    if (known.sum != known.sum) return;
    for (int c = 0; c < columns; ++c) {
      const bool stays = e[c] > known.threshold || (e[c] == known.threshold && key + c <= known.key);
      s[c] = stays ? s[c] / known.kept_share : Real(0);
    }
  }

 private:
  void fill_with_nan(Real* context) const {
    for (int64_t i = 0; i < State::p_.value_width; ++i) context[i] = std::numeric_limits<Real>::quiet_NaN();
  }

  /// Keeps the k largest, in the order of their keys; of equal ones the first.
  void prune(RowStats<Real>& known, Real* scores, int32_t* keys, int& size) const {
    const Real floor = nth(scores, size);
    int above = 0, kept = 0;
    for (int i = 0; i < size; ++i) above += scores[i] > floor;
    int equals = static_cast<int>(k_) - above;
    for (int i = 0; i < size; ++i) {
      if (scores[i] < floor || (scores[i] == floor && equals-- <= 0)) continue;
      scores[kept] = scores[i];
      keys[kept++] = keys[i];
    }
    size = kept;
    known.threshold = floor;
  }
  /// The k-th largest of `size` numbers, by quickselect.
  Real nth(const Real* from, int size) const {
    Real* x = static_cast<Real*>(scratch(Slot::second, static_cast<size_t>(size) * sizeof(Real)));
    for (int i = 0; i < size; ++i) x[i] = from[i];
    int first = 0, last = size - 1, wanted = static_cast<int>(k_) - 1;
    while (first < last) {
      const Real pivot = x[(first + last) / 2];
      int i = first, j = last;
      while (i <= j) {
        while (x[i] > pivot) ++i;
        while (pivot > x[j]) --j;
        if (i <= j) {
          const Real t = x[i];
          x[i++] = x[j];
          x[j--] = t;
        }
      }
      if (wanted <= j)
        last = j;
      else if (wanted >= i)
        first = i;
      else
        break;
    }
    return x[wanted];
  }

  int64_t k_ = 0, capacity_ = 0;
  Real* scores_ = nullptr;
  int32_t* keys_ = nullptr;
  int size_[kRowsMax];
};

}  // namespace heed::kernels::cpu
