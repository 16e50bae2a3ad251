// The gradients of requested outputs, arranged once per call so that a tile of scores finds those that concern it:
// plain pointers, which kernels of every instruction set read.

#pragma once

#include <cstdint>

namespace heed::kernels::cpu {

/// The gradient of one weight, or of its logarithm.
template <typename Real>
struct PairGradient {
  int32_t key;
  bool of_log;
  Real grad;
};

/// Where each index occurs in a selection: index i at items[start[i]] ... items[start[i + 1] - 1].
struct Occurrences {
  const int64_t *start = nullptr, *items = nullptr;  // start null: everything is selected, index i at i
};

/// Null: no gradient. Outputs that do not depend on the scores are left out.
template <typename Real>
struct IndexedGradients {
  const Real* weights = nullptr;  // [batch][head_count][query_count][keys]
  Occurrences heads, queries;
  int64_t head_count = 0, query_count = 0;
  const Real *entropy = nullptr, *reported_entropy = nullptr;  // [batch][heads][queries]
  const Real* column_mass = nullptr;                           // [batch][heads][keys]
  // Those of row i, by ascending key, are pairs[pair_start[i]] ... pairs[pair_start[i + 1] - 1].
  const PairGradient<Real>* pairs = nullptr;
  const int64_t* pair_start = nullptr;
  int64_t pair_count = 0;
};

}  // namespace heed::kernels::cpu
