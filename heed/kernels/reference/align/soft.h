// Softmax, ranks and entropy of a list of scores, for definitions of alignments.

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "heed/kernels/reference/align.h"
#include "heed/kernels/reference/math.h"

namespace heed::kernels::reference {

template <typename Real>
using List = std::vector<Real>;

template <typename Real>
struct Soft {
  List<Real> weights;
  Real lse;
};

/// a_j = exp(e_j - m) / sum exp(e - m),   lse = m + log sum exp(e - m),   over the keys inside; m is their maximum.
template <typename Real>
Soft<Real> softmax_inside(const List<Real>& scores, const List<uint8_t>& inside) {
  double best = -kInfinity;
  for (size_t j = 0; j < scores.size(); ++j) {
    if (inside[j]) best = std::max(best, re(scores[j]));
  }
  List<Real> weights(scores.size(), Real(0));
  Real sum(0);
  for (size_t j = 0; j < scores.size(); ++j) {
    if (inside[j]) sum += weights[j] = std::exp(scores[j] - best);
  }
  if (best == -kInfinity && re(sum) == 0) return {std::move(weights), Real(-kInfinity)};  // no key is inside
  for (size_t j = 0; j < scores.size(); ++j) {
    if (inside[j]) weights[j] /= sum;
  }
  return {std::move(weights), best + std::log(sum)};
}

template <typename Real>
Soft<Real> softmax(const List<Real>& scores) {
  return softmax_inside(scores, List<uint8_t>(scores.size(), 1));
}

/// H = -sum a log a,   0 log 0 = 0
template <typename Real>
Real entropy(const List<Real>& weights) {
  Real sum(0);
  for (const Real& a : weights) {
    if (re(a) != 0) sum -= a * std::log(a);
  }
  return sum;
}

template <typename Real>
Aligned<Real> soft_answer(Soft<Real> soft) {
  const Real uncertainty = entropy(soft.weights);
  return {std::move(soft.weights), soft.lse, uncertainty};
}

template <typename Real>
bool has_nan(const List<Real>& scores) {
  return std::any_of(scores.begin(), scores.end(),
                     [](const Real& e) { return std::isnan(re(e)) || re(e) == kInfinity; });
}

/// The answer if scores cannot be compared: NaN.
template <typename Real>
Aligned<Real> unknown(size_t keys) {
  const Real nan(std::numeric_limits<double>::quiet_NaN());
  return {List<Real>(keys, nan), nan, nan, nan};
}

/// Index of the largest score; of equal ones the first.
template <typename Real>
size_t best_of(const List<Real>& scores) {
  size_t best = 0;
  for (size_t j = 1; j < scores.size(); ++j) {
    if (re(scores[j]) > re(scores[best])) best = j;
  }
  return best;
}

template <typename Real>
List<Real> one_hot(size_t keys, size_t which) {
  List<Real> weights(keys, Real(0));
  weights[which] = Real(1);
  return weights;
}

/// Indices by descending score; equal ones in their order.
template <typename Real>
List<size_t> ranked(const List<Real>& scores) {
  List<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return re(scores[x]) > re(scores[y]); });
  return order;
}

/// Sets weights that are not kept to 0; renorm: divides the others by their sum.
template <typename Real>
List<Real> filtered(List<Real> weights, const List<uint8_t>& kept, bool renorm) {
  Real sum(0);
  for (size_t j = 0; j < weights.size(); ++j) {
    if (kept[j])
      sum += weights[j];
    else
      weights[j] = Real(0);
  }
  for (size_t j = 0; renorm && j < weights.size(); ++j) {
    if (kept[j]) weights[j] /= sum;
  }
  return weights;
}

}  // namespace heed::kernels::reference
