// Backward: nothing of size queries x keys is stored. Scores and weights are recomputed tile by tile:
//
//   P = align(e),   dP = dO . v,   ds = gradients of the alignment,   dv += P^T dO,   dq += ds k,   dk += ds^T q
//
// A task is a chunk of keys of one key head. It owns the gradients of its keys and values, and has partial sums for
// those of the queries, which are added in order. Partial sums take memory: at most 8 chunks, and at most 32 MiB. The
// gradients of a bias are computed in a separate pass, in which one task owns all pairs that share an entry of the
// bias, so the bits do not depend on the number of threads there either. Gradients of requested outputs: those of
// output_gradients.h.

#pragma once

#include "heed/kernels/cpu/engine/output_gradients.h"

namespace heed::kernels::cpu {

template <class V>
class Backward : private OutputGradients<V> {
 public:
  using Real = typename V::Real;
  using Reg = typename V::Reg;
  using Base = OutputGradients<V>;

  /// g: gradients of query and keys have padded widths, those of to_scores are per head.
  Backward(const Problem<Real>& p, const Gradients<Real>& g, const IndexedGradients<Real>& of_outputs,
           const ParallelFor& parallel_for)
      : Base(p, of_outputs, parallel_for), g_(g), with_outputs_(Base::given()), width_(Panels<V>::padded(p.width)) {}

  void run() {
    find_delta();
    const int64_t heads = p_.batch * p_.key_heads, blocks = (p_.keys + kKeys - 1) / kKeys;
    const int64_t numbers = p_.batch * p_.heads * p_.queries * width_;
    const int64_t chunks = chunk_count(heads, blocks, numbers), chunk_keys = (blocks + chunks - 1) / chunks * kKeys;
    const int64_t rows = p_.batch * p_.heads * p_.queries;
    Buffer query_buffer, weights_buffer, position_buffer, alpha_buffer;
    Real* query = chunks > 1 ? Base::buffer(query_buffer, chunks * numbers) : g_.query;
    Real* weights = Base::buffer(weights_buffer, p_.batch * p_.heads * chunks * width_);
    Real* position = g_.position == nullptr ? nullptr : Base::buffer(position_buffer, chunks * rows);
    double* alpha = g_.alpha == nullptr ? nullptr : doubles(alpha_buffer, chunks * p_.batch * p_.heads);
    Base::each(heads * chunks, [&](int64_t task) {
      const int64_t b = task / chunks / p_.key_heads, h = task / chunks % p_.key_heads, chunk = task % chunks;
      Sums to{query + chunk * numbers, weights + (chunk * p_.batch + b) * p_.heads * width_,
              position == nullptr ? nullptr : position + chunk * rows,
              alpha == nullptr ? nullptr : alpha + (chunk * p_.batch + b) * p_.heads};
      run_chunk(b, h, {chunk * chunk_keys, Base::min_of(p_.keys, (chunk + 1) * chunk_keys)}, to);
    });
    Base::each(p_.batch * p_.heads, [&](int64_t head) {
      const int64_t n = p_.queries * width_;
      Real* to = g_.query + head * n;
      for (int64_t i = 0; i < n && chunks > 1; i += V::kLanes) {
        Reg sum = V::load(query + head * n + i);
        for (int64_t c = 1; c < chunks; ++c) sum = V::add(sum, V::load(query + c * numbers + head * n + i));
        V::store(to + i, sum);
      }
      Worker<V>(Base::shared_).tile().close_query(head % p_.heads, to, p_.queries);
    });
    for (int64_t i = 0; i < p_.heads * width_ && g_.to_scores != nullptr; ++i) {
      double sum = 0;
      for (int64_t part = 0; part < chunks * p_.batch; ++part) sum += double(weights[part * p_.heads * width_ + i]);
      g_.to_scores[i] = static_cast<Real>(sum * double(p_.scale));
    }
    for (int64_t h = 0; h < p_.heads && alpha != nullptr; ++h) {
      double sum = 0;
      for (int64_t part = 0; part < chunks * p_.batch; ++part) sum += alpha[part * p_.heads + h];
      g_.alpha[h] = static_cast<Real>(sum);
    }
    for (int64_t i = 0; i < rows && position != nullptr; ++i) {
      Real sum = 0;
      for (int64_t c = 0; c < chunks; ++c) sum += position[c * rows + i];
      g_.position[i] = with_outputs_ ? sum + Base::grad_position(i) : sum;
    }
    run_biases();
  }

 private:
  using Base::p_;
  static constexpr int kKeys = kTile, kQueries = 96;
  static constexpr int64_t kMaxBytes = int64_t{32} << 20;

  struct Sums {  // partial sums of a chunk; position, alpha: null if not requested
    Real *query, *to_scores, *position;
    double* alpha;  // [heads]
  };
  static double* doubles(Buffer& buffer, int64_t numbers) {
    return static_cast<double*>(buffer.reserve(static_cast<size_t>(numbers) * sizeof(double)));
  }

  int64_t chunk_count(int64_t heads, int64_t blocks, int64_t numbers) const {
    int64_t n = 8;
    const int64_t afford = kMaxBytes / static_cast<int64_t>(sizeof(Real)) / Base::max_of(1, numbers);
    n = Base::min_of(n, Base::min_of(afford, blocks));
    n = Base::min_of(n, 32 / heads);
    return Base::max_of(n, 1);
  }

  /// delta_ = dL/dcontext . context per query (or . second), and the shares of requested outputs.
  void find_delta() {
    const int64_t rows = p_.batch * p_.heads * p_.queries, width = p_.value_width;
    delta_ = Base::buffer(delta_buffer_, rows);
    const bool constant = Base::align_.traits.scores_need_log_probability;
    const Real* with = Base::align_.traits.needs_second ? p_.second : p_.context;
    Base::each((rows + 255) / 256, [&](int64_t task) {
      for (int64_t i = task * 256; i < Base::min_of(rows, task * 256 + 256); ++i) {
        Reg sum = V::zero();
        for (int64_t c = 0; c < width && !constant; c += V::kLanes)
          sum = V::fma(V::load(g_.context + i * width + c), V::load(with + i * width + c), sum);
        delta_[i] = V::sum(sum);
      }
    });
    if (with_outputs_) Base::prepare(delta_);
  }

  struct Tiles {                   // scratch of one task
    Real *weights, *ds;            // of a block of queries, [kQueries][kKeys]
    Real *raw, *before;            // scores of a group of rows before activation, and before perturb
    const Real* values = nullptr;  // packed values of the block of keys; null: unpacked rows are read
  };
  static Tiles tiles(int group) {
    const int64_t block = kQueries * kKeys, some = int64_t{group} * kKeys;
    Real* buffer = static_cast<Real*>(scratch(Slot::weights, static_cast<size_t>(2 * (block + some)) * sizeof(Real)));
    return {buffer, buffer + block, buffer + 2 * block, buffer + 2 * block + some};
  }

  /// Packs the values of a block of keys in the layout of panels.h.
  const Real* pack_values(int64_t b, int64_t key_head, int64_t key, int keys) const {
    if (p_.queries < kFewQueries) return nullptr;
    const int64_t width = p_.value_width;
    Real* to = static_cast<Real*>(scratch(Slot::grads, static_cast<size_t>((keys + kPad) * width) * sizeof(Real)));
    for (int first = 0; first < keys; first += kPanel) {
      const int n = keys - first < kPanel ? keys - first : kPanel;
      Panels<V>::pack(p_.values.at(b, key_head, key + first), p_.values.row, n, width, to + first * width);
    }
    return to;
  }

  /// Computes t.weights and t.ds for the worker's block of queries and keys key ... key + keys - 1 (key is a multiple
  /// of 64). sums: t.ds are gradients with respect to the output of the score tile, and sums of the rows are added to;
  /// null: they are gradients with respect to the biased scores.
  void block_gradients(Worker<V>& work, Tiles& t, int64_t key, int keys, const Sums* sums) {
    Real* position = sums == nullptr ? nullptr : sums->position;
    double* alpha = sums == nullptr || sums->alpha == nullptr ? nullptr : sums->alpha + work.block.head;
    const int64_t width = p_.value_width, panel = key / kPanel;
    const int count = (keys + kPanel - 1) / kPanel, n = work.columns(panel, count);
    const Steps<V>& steps = work.steps;
    for (int r = 0; r < work.block.rows; r += work.group) {
      const Block at = work.rows_of(r);
      Real *w = t.weights + r * kKeys, *ds = t.ds + r * kKeys;
      work.scores(r, panel, count, w, t.raw, t.before);
      const Real* dc = g_.context + Base::row(at) * width;
      if (t.values == nullptr) {
        RowDots<V>::run(dc, width, p_.values.at(at.batch, Base::key_head(at), key), p_.values.row, width, at.rows, keys,
                        ds, kKeys);
        for (int i = 0; i < at.rows; ++i)
          for (int c = keys; c < n; ++c) ds[i * kKeys + c] = 0;
      } else {
        for (int i = 0; i < count; ++i) {
          const int left = keys - i * kPanel,
                    columns = left < kPanel ? static_cast<int>(Panels<V>::padded(left)) : kPanel;
          Product<V, Start::zero>::run({dc, width, 1}, t.values + i * kPanel * width, columns, width, ds + i * kPanel,
                                       kKeys, at.rows, columns);
        }
      }
      for (int i = 0; i < at.rows; ++i, w += kKeys, ds += kKeys) {
        const int64_t index = Base::row(at) + i;
        if (steps.drops()) steps.drop(at, i, key, n, ds);
        if (with_outputs_) Base::add_to_weights(work, r + i, index, key, n, w, ds);
        const auto given = [index](const Real* grads) { return grads == nullptr ? Real(0) : grads[index]; };
        const Real entropy = with_outputs_ ? Base::grad_entropy(index) : Real(0);
        work.state().gradients(r + i, p_.rows[index],
                               {delta_[index], given(g_.lse), given(g_.log_probability), entropy}, key, n, w, ds);
        if (with_outputs_) Base::add_to_scores(index, key, n, ds);
        if (alpha != nullptr) *alpha += static_cast<double>(work.state().grad_alpha(n, w, ds));
        if (steps.drops()) steps.drop(at, i, key, n, w);
        if (position != nullptr) position[index] += work.state().grad_position();
        if (work.perturbs) {
          const Real grad = steps.perturb_backward(at, i, key, n, t.before + i * kTile, ds);
          if (position != nullptr) position[index] += grad;
        }
        if (sums != nullptr && steps.has_activation()) steps.activation_backward(n, t.raw + i * kTile, ds);
      }
    }
  }

  void run_chunk(int64_t b, int64_t key_head, Range chunk, const Sums& sums) {
    Worker<V> work(Base::shared_);
    const int64_t width = p_.value_width, group = p_.group();
    Real* to_query = sums.query + (b * p_.heads + key_head * group) * p_.queries * width_;
    Base::clear(to_query, group * p_.queries * width_);
    Base::clear(sums.to_scores + key_head * group * width_, group * width_);
    if (sums.position != nullptr)
      for (int64_t i = 0; i < group * p_.queries; ++i) sums.position[p_.row_index(b, key_head * group, 0) + i] = 0;
    for (int64_t h = 0; h < group && sums.alpha != nullptr; ++h) sums.alpha[key_head * group + h] = 0;
    const bool keyed = Base::score_.traits.reads_keys;
    const bool apart = keyed && p_.to_scores_head != 0 && group > 1;  // the factor of close_keys() differs by head
    Buffer own_buffer;
    Real* own = apart ? Base::buffer(own_buffer, kKeys * width_) : nullptr;

    for (int64_t key = chunk.first; key < chunk.last; key += kKeys) {
      const int keys = static_cast<int>(Base::min_of(kKeys, chunk.last - key));
      const int64_t row = (b * p_.key_heads + key_head) * p_.keys + key;
      Real *dk = keyed ? g_.keys + row * width_ : nullptr, *dv = g_.values + row * width;
      Tiles t = tiles(work.group);
      bool ready = false;
      for (int64_t h = key_head * group; h < (key_head + 1) * group; ++h) {
        Real* to_keys = apart ? own : dk;
        bool fresh = apart || !ready;  // to_keys is not initialized yet
        if (apart) Base::clear(own, keys * width_);
        for (int64_t query = 0; query < p_.queries; query += kQueries) {
          const Block at{b, h, query, static_cast<int>(Base::min_of(kQueries, p_.queries - query))};
          Range any, all;
          work.steps.ranges(at, any, all);
          if (any.first >= key + keys || any.last <= key) continue;
          work.begin(at, true);
          if (!ready) {
            work.tile().begin_keys(b, key_head, key, keys);
            t.values = pack_values(b, key_head, key, keys);
          }
          block_gradients(work, t, key, keys, &sums);
          value_gradients(at, t.weights, keys, !ready, dv);
          ready = true;
          work.tile().gradients(t.ds, kKeys, sums.query + Base::row(at) * width_, to_keys, fresh,
                                sums.to_scores + h * width_);
          fresh = false;
        }
        if (!apart) continue;
        if (h == key_head * group) Base::clear(dk, keys * width_);
        work.tile().close_keys(h, own, keys);
        for (int64_t i = 0; i < keys * width_; i += V::kLanes)
          V::store(dk + i, V::add(V::load(dk + i), V::load(own + i)));
      }
      if (!ready) {
        if (keyed) Base::clear(dk, keys * width_);
        Base::clear(dv, keys * width);
      } else if (!apart) {
        work.tile().close_keys(key_head * group, dk, keys);
      }
    }
  }

  /// dv += P^T dO
  void value_gradients(const Block& at, const Real* weights, int keys, bool fresh, Real* dv) const {
    const int64_t width = p_.value_width;
    const Real* dc = g_.context + Base::row(at) * width;
    if (fresh && at.rows == 1) {  // dv is written sequentially and not read
      for (int j = 0; j < keys; ++j, dv += width)
        for (int64_t c = 0; c < width; c += V::kLanes) V::store(dv + c, V::mul(V::set1(weights[j]), V::load(dc + c)));
    } else if (fresh) {
      Product<V, Start::zero>::run({weights, 1, kKeys}, dc, width, at.rows, dv, width, keys, width);
    } else {
      Product<V, Start::add>::run({weights, 1, kKeys}, dc, width, at.rows, dv, width, keys, width);
    }
  }

  // ---- biases

  void run_biases() {
    if (g_.full) grid(g_.full, p_.bias.full.batch, p_.bias.full.head, p_.bias.full.key);
    if (g_.per_key) grid(g_.per_key, p_.bias.per_key.batch, p_.bias.per_key.head, p_.bias.per_key.key);
    const int64_t shared = p_.bias.relative_head, reach = p_.bias.relative_reach;
    if (g_.relative != nullptr)
      Base::each(shared == 0 ? 1 : p_.heads, [&](int64_t head) {
        Real* to = g_.relative + head * shared + reach;
        for (int64_t i = -reach; i <= reach; ++i) to[i] = 0;
        owner({0, p_.batch}, shared == 0 ? Range{0, p_.heads} : Range{head, head + 1}, {0, p_.keys},
              [&](const Block& at, int r, int64_t key, int keys, const Real* ds) {
                const int64_t ahead = key - (at.query + r + p_.mask.first_position);
                for (int c = 0; c < keys; ++c)
                  to[ahead + c < -reach ? -reach : ahead + c > reach ? reach : ahead + c] += ds[c];
              });
      });
    if (g_.alibi != nullptr)
      Base::each(p_.heads, [&](int64_t head) {
        Real sum = 0;
        owner({0, p_.batch}, {head, head + 1}, {0, p_.keys},
              [&](const Block& at, int r, int64_t key, int keys, const Real* ds) {
                const int64_t ahead = key - (at.query + r + p_.mask.first_position);
                for (int c = 0; c < keys; ++c) sum -= ds[c] * Real(ahead + c < 0 ? -(ahead + c) : ahead + c);
              });
        g_.alibi[head] = sum;
      });
  }

  /// full and per_key: a task owns a batch element, a head and a block of keys, or all of them along an axis on which
  /// the bias is broadcast. The caller has cleared `to`.
  void grid(const Grid<Real>& to, int64_t batch, int64_t head, int64_t key) {
    const int64_t nb = batch == 0 ? 1 : p_.batch, nh = head == 0 ? 1 : p_.heads;
    const int64_t nk = key == 0 ? 1 : (p_.keys + kKeys - 1) / kKeys;
    Base::each(nb * nh * nk, [&](int64_t task) {
      const int64_t b = task / nk / nh, h = task / nk % nh, k = task % nk * kKeys;
      owner(nb == 1 ? Range{0, p_.batch} : Range{b, b + 1}, nh == 1 ? Range{0, p_.heads} : Range{h, h + 1},
            nk == 1 ? Range{0, p_.keys} : Range{k, Base::min_of(p_.keys, k + kKeys)},
            [&](const Block& at, int r, int64_t first, int keys, const Real* ds) {
              Real* row = to.at(at.batch, at.head, at.query + r, first);
              for (int c = 0; c < keys; ++c) row[c * to.key] += ds[c];
            });
    });
  }

  /// Calls take(block, row of it, key, keys, gradients of the biased scores) for all pairs that a task owns.
  template <class Take>
  void owner(Range batch, Range heads, Range span, Take take) {
    Worker<V> work(Base::shared_);
    for (int64_t b = batch.first; b < batch.last; ++b)
      for (int64_t h = heads.first; h < heads.last; ++h)
        for (int64_t key = span.first; key < span.last; key += kKeys) {
          const int keys = static_cast<int>(Base::min_of(kKeys, span.last - key));
          Tiles t = tiles(work.group);
          bool ready = false;
          for (int64_t query = 0; query < p_.queries; query += kQueries) {
            const Block at{b, h, query, static_cast<int>(Base::min_of(kQueries, p_.queries - query))};
            Range any, all;
            work.steps.ranges(at, any, all);
            if (any.first >= key + keys || any.last <= key) continue;
            work.begin(at, true);
            if (!ready) t.values = pack_values(b, Base::key_head(at), key, keys);
            ready = true;
            block_gradients(work, t, key, keys, nullptr);
            for (int r = 0; r < at.rows; ++r) take(at, r, key, keys, t.ds + r * kKeys);
          }
        }
  }

  const Gradients<Real>& g_;
  bool with_outputs_;  // gradients of requested outputs
  int64_t width_;      // padded
  Buffer delta_buffer_;
  Real* delta_ = nullptr;
};

}  // namespace heed::kernels::cpu
