// Products of few rows with a matrix that stays the same, as in the steps of a recurrent network:
//
//   c [rows, N] = start + a [rows, K] b [K, N]
//
// A BLAS rearranges b at every call, which for 64 rows takes about as long as the product; here it is packed once, in
// strips of columns that the micro-kernel of attention (tiles/product.h) reads in order.

#pragma once

#include <cstdint>
#include <vector>

#include "heed/base/parallel.h"

namespace heed::kernels::cpu {

/// b[k][n] = at[k row + n column].
template <typename Real>
struct PackedSource {
  const Real* at = nullptr;
  int64_t row = 0, column = 0;
  int64_t depth = 0, width = 0;  // K, N
};

/// The rows of one product. start [N]: added to each row; null: c is added to if `add`, else overwritten.
template <typename Real>
struct PackedRows {
  int64_t rows = 0, depth = 0, width = 0;
  const Real* a = nullptr;  // a[r][k] = a[r lda + k]
  int64_t lda = 0;
  Real* c = nullptr;  // c[r][n] = c[r ldc + n]
  int64_t ldc = 0;
  const Real* start = nullptr;
  bool add = false;
};

class PackedMatrix {
 public:
  PackedMatrix() = default;
  PackedMatrix(const PackedSource<float>& from, const ParallelFor& parallel_for);

  bool empty() const { return data_.empty(); }
  int64_t depth() const { return depth_; }
  int64_t width() const { return width_; }
  /// depth and width of `rows` are those of the matrix.
  void multiply(const PackedRows<float>& rows, const ParallelFor& parallel_for) const;

 private:
  int64_t strips(int64_t strip) const { return (width_ + strip - 1) / strip; }

  int64_t depth_ = 0, width_ = 0, strip_ = 0;
  const void* kernels_ = nullptr;  // that packed it: each has a layout of its own
  std::vector<float> data_;
};

}  // namespace heed::kernels::cpu
