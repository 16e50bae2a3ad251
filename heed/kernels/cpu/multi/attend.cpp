#include "heed/kernels/cpu/multi/attend.h"

#include <algorithm>
#include <vector>

#include "heed/base/check.h"
#include "heed/kernels/cpu/attend.h"
#include "heed/kernels/cpu/multi/sets.h"

namespace heed::kernels::cpu {
namespace {

template <typename Real>
const MultiSet<Real>& chosen() {
  if constexpr (sizeof(Real) == 8) {
    return kMultiDouble;
  } else {
#if defined(__x86_64__)
    const std::string name = instruction_set();
    if (name == "avx512") return kMultiAvx512;
    if (name == "avx2") return kMultiAvx2;
#endif
    return kMultiPortable;
  }
}

constexpr int64_t kGrain = 16;
int64_t padded(int64_t n) {
  return (n + kGrain - 1) / kGrain * kGrain;
}

/// Rows padded with zeros from width `from` to width `to`.
template <typename Real>
class PaddedRows {
 public:
  PaddedRows(int64_t rows, int64_t from, int64_t to)
      : rows_(rows), from_(from), to_(to), data_(static_cast<size_t>(rows * to), Real(0)) {}
  Real* data() { return data_.data(); }
  Real* row(int64_t r) { return data() + r * to_; }

  void fill(const Real* rows) {
    for (int64_t r = 0; r < rows_; ++r) std::copy_n(rows + r * from_, from_, row(r));
  }
  void give(Real* rows) {
    for (int64_t r = 0; r < rows_; ++r) std::copy_n(row(r), from_, rows + r * from_);
  }

 private:
  int64_t rows_, from_, to_;
  std::vector<Real> data_;
};

/// A problem whose widths are multiples of kGrain: the caller's, or a copy padded with zeros. Padded channels have
/// scores of 0 and values of 0.
template <typename Real>
class Wide {
 public:
  explicit Wide(const MultiProblem<Real>& p)
      : given_(p),
        needed_(p.width % kGrain != 0 || p.channels % kGrain != 0),
        rows_(p.batch * p.heads * p.queries),
        width_(padded(p.width)),
        channels_(padded(p.channels)),
        query_(copy(p.query, p.heads, p.queries, p.width)),
        keys_(copy(p.key_rows, p.key_heads, p.keys, p.width)),
        values_(copy(p.values, p.key_heads, p.keys, p.channels)),
        to_scores_(needed_ && p.to_scores ? matrices() * channels_ : 0, p.width, width_),
        context_(by_row()),
        top_(by_row()),
        sum_(by_row()),
        lse_(needed_ && p.lse ? rows_ : 0, p.channels, channels_),
        problem(p) {
    if (!needed_) return;
    problem.width = width_, problem.channels = channels_;
    problem.query = rows_of(query_, p.heads, p.queries, width_);
    problem.key_rows = rows_of(keys_, p.key_heads, p.keys, width_);
    problem.values = rows_of(values_, p.key_heads, p.keys, channels_);
    problem.context = context_.data(), problem.top = top_.data(), problem.sum = sum_.data();
    if (p.lse) problem.lse = lse_.data();
    if (!p.to_scores) return;
    for (int64_t h = 0; h < matrices(); ++h)
      for (int64_t c = 0; c < p.channels; ++c)
        std::copy_n(p.to_scores + h * p.to_scores_head + c * p.width, p.width, to_scores_.row(h * channels_ + c));
    problem.to_scores = to_scores_.data();
    if (p.to_scores_head != 0) problem.to_scores_head = channels_ * width_;
  }

  bool needed() const { return needed_; }
  void give_results() {
    if (!needed_) return;
    context_.give(given_.context), top_.give(given_.top), sum_.give(given_.sum);
    if (given_.lse) lse_.give(given_.lse);
  }
  void take_results() {
    if (needed_) context_.fill(given_.context), top_.fill(given_.top), sum_.fill(given_.sum);
  }

 private:
  int64_t matrices() const { return given_.to_scores_head == 0 ? 1 : given_.heads; }
  PaddedRows<Real> by_row() const { return {needed_ ? rows_ : 0, given_.channels, channels_}; }
  PaddedRows<Real> copy(const Rows<const Real>& from, int64_t heads, int64_t length, int64_t n) const {
    PaddedRows<Real> to(needed_ ? given_.batch * heads * length : 0, n, padded(n));
    for (int64_t r = 0; needed_ && r < given_.batch * heads * length; ++r)
      std::copy_n(from.at(r / length / heads, r / length % heads, r % length), n, to.row(r));
    return to;
  }
  static Rows<const Real> rows_of(PaddedRows<Real>& x, int64_t heads, int64_t length, int64_t n) {
    return {x.data(), heads * length * n, length * n, n};
  }

  const MultiProblem<Real>& given_;
  bool needed_;
  int64_t rows_, width_, channels_;
  PaddedRows<Real> query_, keys_, values_, to_scores_, context_, top_, sum_, lse_;

 public:
  MultiProblem<Real> problem;
};

template <typename Real>
void check_problem(const MultiProblem<Real>& p) {
  check(p.key_heads > 0 && p.heads % p.key_heads == 0, "kernels/cpu/multi: got ", p.key_heads,
        " key heads, expected a divisor of the ", p.heads, " heads");
  check(p.dropout >= 0 && p.dropout < 1, "kernels/cpu/multi: got dropout ", p.dropout, ", expected a number in [0, 1)");
  check(p.to_scores != nullptr || p.width == p.channels, "kernels/cpu/multi: got ", p.width,
        " features of query and keys, expected ", p.channels, ", one per channel; the elementwise form needs it");
}

/// Sets every element to 0; broadcast axes (stride 0) are visited once.
template <typename Real>
void clear(const Grid<Real>& grid, const MultiProblem<Real>& p) {
  if (!grid) return;
  const auto times = [](int64_t stride, int64_t n) { return stride == 0 ? std::min<int64_t>(n, 1) : n; };
  for (int64_t b = 0; b < times(grid.batch, p.batch); ++b)
    for (int64_t h = 0; h < times(grid.head, p.heads); ++h)
      for (int64_t i = 0; i < times(grid.query, p.queries); ++i)
        for (int64_t j = 0; j < times(grid.key, p.keys); ++j) *grid.at(b, h, i, j) = 0;
}

}  // namespace

template <typename Real>
void multi_forward(const MultiProblem<Real>& problem, const ParallelFor& parallel_for) {
  check_problem(problem);
  Wide<Real> wide(problem);
  chosen<Real>().forward(wide.problem, problem.channels, parallel_for);
  wide.give_results();
}

template <typename Real>
void multi_backward(const MultiProblem<Real>& problem, const MultiGradients<Real>& gradients,
                    const ParallelFor& parallel_for) {
  check_problem(problem);
  const auto& p = problem;
  Wide<Real> wide(problem);
  wide.take_results();
  const int64_t rows = p.batch * p.heads * p.queries, key_rows = p.batch * p.key_heads * p.keys;
  const int64_t width = wide.problem.width, channels = wide.problem.channels;

  // Inputs are padded. Outputs are padded buffers, or the caller's memory if no padding is needed.
  MultiGradients<Real> g = gradients;
  const auto given = [&](const Real*& x, PaddedRows<Real>& buffer) {
    if (x == nullptr || !wide.needed()) return;
    buffer = PaddedRows<Real>(rows, p.channels, channels);
    buffer.fill(x);
    x = buffer.data();
  };
  const auto wanted = [&](Real*& x, int64_t n, int64_t from, int64_t to) {
    PaddedRows<Real> buffer(x == nullptr || wide.needed() ? n : 0, from, to);
    if (x == nullptr || wide.needed()) x = buffer.data();
    return buffer;
  };
  PaddedRows<Real> context(0, 0, 0), lse(0, 0, 0);
  given(g.context, context);
  given(g.lse, lse);
  auto query = wanted(g.query, rows, p.width, width);
  auto keys = wanted(g.keys, key_rows, p.width, width);
  auto values = wanted(g.values, key_rows, p.channels, channels);
  PaddedRows<Real> to_scores(wide.needed() && g.to_scores ? p.heads * channels : 0, p.width, width);
  if (wide.needed() && g.to_scores) g.to_scores = to_scores.data();
  clear(g.full, p);
  clear(g.per_key, p);

  chosen<Real>().backward(wide.problem, g, p.channels, parallel_for);

  if (!wide.needed()) return;
  if (gradients.query) query.give(gradients.query);
  if (gradients.keys) keys.give(gradients.keys);
  if (gradients.values) values.give(gradients.values);
  if (!gradients.to_scores) return;
  for (int64_t h = 0; h < p.heads; ++h)
    for (int64_t c = 0; c < p.channels; ++c)
      std::copy_n(to_scores.row(h * channels + c), p.width, gradients.to_scores + (h * p.channels + c) * p.width);
}

template void multi_forward(const MultiProblem<float>&, const ParallelFor&);
template void multi_forward(const MultiProblem<double>&, const ParallelFor&);
template void multi_backward(const MultiProblem<float>&, const MultiGradients<float>&, const ParallelFor&);
template void multi_backward(const MultiProblem<double>&, const MultiGradients<double>&, const ParallelFor&);

}  // namespace heed::kernels::cpu
