#include "heed/kernels/cpu/train/cross_entropy.h"

#include <algorithm>
#include <vector>

#include "heed/kernels/cpu/train/kernels.h"

namespace heed::kernels::cpu {

double cross_entropy(const CrossEntropy& p, const ParallelFor& parallel_for) {
  constexpr int64_t kNumbers = 1 << 16;  // of a task
  const auto& kernels = train_kernels<float>();
  const int64_t some = std::max<int64_t>(1, kNumbers / std::max<int64_t>(1, p.classes));
  std::vector<double> losses(static_cast<size_t>(p.rows), 0);
  parallel_for((p.rows + some - 1) / some, [&](int64_t task) {
    for (int64_t i = task * some; i < std::min(p.rows, (task + 1) * some); ++i) {
      float* const row = p.logits + i * p.classes;
      if (p.wanted[i] != p.ignored)
        losses[static_cast<size_t>(i)] = kernels.cross_entropy(row, p.classes, p.wanted[i], p.smoothing, p.gradient);
      else if (p.gradient)
        std::fill_n(row, p.classes, 0.0F);
    }
  });
  double sum = 0;
  for (const double x : losses) sum += x;
  return sum;
}

}  // namespace heed::kernels::cpu
