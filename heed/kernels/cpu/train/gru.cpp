#include "heed/kernels/cpu/train/gru.h"

#include <algorithm>

#include "heed/kernels/cpu/train/kernels.h"

namespace heed::kernels::cpu {
namespace {

/// Calls body(first, last) for ranges of rows.
template <typename Body>
void for_rows(int64_t rows, int64_t width, const ParallelFor& parallel_for, const Body& body) {
  constexpr int64_t kNumbers = 1 << 12;  // of a task
  const int64_t some = std::max<int64_t>(1, kNumbers / std::max<int64_t>(1, width));
  parallel_for((rows + some - 1) / some, [&](int64_t task) { body(task * some, std::min(rows, (task + 1) * some)); });
}

}  // namespace

template <typename Real>
void gru_forward(const GruForward<Real>& step, const ParallelFor& parallel_for) {
  for_rows(step.rows, step.width, parallel_for,
           [&](int64_t first, int64_t last) { train_kernels<Real>().gru_forward(step, first, last); });
}

template <typename Real>
void gru_backward(const GruBackward<Real>& step, const ParallelFor& parallel_for) {
  for_rows(step.rows, step.width, parallel_for,
           [&](int64_t first, int64_t last) { train_kernels<Real>().gru_backward(step, first, last); });
}

template void gru_forward(const GruForward<float>&, const ParallelFor&);
template void gru_forward(const GruForward<double>&, const ParallelFor&);
template void gru_backward(const GruBackward<float>&, const ParallelFor&);
template void gru_backward(const GruBackward<double>&, const ParallelFor&);

}  // namespace heed::kernels::cpu
