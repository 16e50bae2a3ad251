// Sums over features, for definitions of scores.

#pragma once

#include <span>
#include <vector>

#include "heed/kernels/reference/score.h"

namespace heed::kernels::reference {

template <typename Real>
using Features = std::span<const Real>;

template <typename Real>
Real dot(Features<Real> x, Features<Real> y) {
  Real sum(0);
  for (size_t d = 0; d < x.size(); ++d) sum += x[d] * y[d];
  return sum;
}

/// Part c of `count` equal parts: a group of features, a row of a matrix, or a matrix of a stack.
template <typename Real>
Features<Real> part(Features<Real> x, int64_t c, int64_t count) {
  const size_t size = x.size() / static_cast<size_t>(count);
  return x.subspan(static_cast<size_t>(c) * size, size);
}

/// W x, W row-major.
template <typename Real>
std::vector<Real> product(Features<Real> matrix, Features<Real> x) {
  std::vector<Real> y(matrix.size() / x.size());
  for (size_t r = 0; r < y.size(); ++r) y[r] = dot(matrix.subspan(r * x.size(), x.size()), x);
  return y;
}

/// The scores of all channels.
template <typename Real, typename Formula>
std::vector<Real> for_each_channel(const Sizes& sizes, const Formula& formula) {
  std::vector<Real> e;
  for (int64_t c = 0; c < sizes.width(); ++c) e.push_back(formula(c));
  return e;
}

}  // namespace heed::kernels::reference
