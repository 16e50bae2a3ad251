#include "heed/torch_support/parallel.h"

#include <algorithm>
#include <atomic>

#include <ATen/Parallel.h>

namespace heed {

void on_torch_threads(int64_t tasks, const std::function<void(int64_t)>& body) {
  const int64_t threads = std::min<int64_t>(tasks, at::get_num_threads());
  if (threads <= 1 || at::in_parallel_region()) return in_order(tasks, body);
  std::atomic<int64_t> next{0};
  at::parallel_for(0, threads, /*grain_size=*/1, [&](int64_t, int64_t) {
    for (int64_t i = next++; i < tasks; i = next++) body(i);
  });
}

}  // namespace heed
