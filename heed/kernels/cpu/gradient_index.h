// Arranges the gradients of requested outputs for the kernels (engine/indexed_gradients.h): selections are inverted,
// links and largest weights sorted by row and key. Memory and time are linear in queries and gradients.

#pragma once

#include <vector>

#include "heed/kernels/cpu/engine/indexed_gradients.h"
#include "heed/kernels/problem.h"

namespace heed::kernels::cpu {

template <typename Real>
class GradientIndex {
 public:
  /// Throws heed::Error if an index is out of range or an array is missing. Keeps pointers to the gradients.
  GradientIndex(const Problem<Real>& problem, const Gradients<Real>& gradients);
  GradientIndex(const GradientIndex&) = delete;
  GradientIndex& operator=(const GradientIndex&) = delete;

  const IndexedGradients<Real>& indexed() const { return indexed_; }

 private:
  struct Occurring {
    std::vector<int64_t> start, items;
  };
  static Occurrences invert(const int64_t* selected, int64_t count, int64_t size, Occurring& to);
  void sort_pairs(const Problem<Real>& p, const Gradients<Real>& g, bool with_top);

  IndexedGradients<Real> indexed_;
  Occurring heads_, queries_;
  std::vector<PairGradient<Real>> pairs_;
  std::vector<int64_t> pair_start_;
};

extern template class GradientIndex<float>;
extern template class GradientIndex<double>;

}  // namespace heed::kernels::cpu
