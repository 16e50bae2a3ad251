#include "heed/kernels/cpu/train/dropout.h"

#include <algorithm>

#include "heed/kernels/cpu/train/kernels.h"

namespace heed::kernels::cpu {

void dropout(const Dropout& p, const ParallelFor& parallel_for) {
  constexpr int64_t kNumbers = 1 << 14;  // of a task
  const int64_t all = p.rows * p.positions, some = std::max<int64_t>(1, kNumbers / std::max<int64_t>(1, p.width));
  const auto& kernels = train_kernels<float>();
  parallel_for((all + some - 1) / some,
               [&](int64_t task) { kernels.dropout(p, task * some, std::min(all, (task + 1) * some)); });
}

}  // namespace heed::kernels::cpu
