#include "heed/torch_support/parallel.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "heed/torch_support/threads.h"

namespace heed {
namespace {

class TorchThreads : public testing::Test {
 protected:
  TorchThreads() { use_threads(2); }
  ~TorchThreads() override { use_threads(before_); }
  const int before_ = at::get_num_threads();
};

// Each of two tasks waits until the other has begun: on one thread they would time out.
TEST_F(TorchThreads, RunTasksAtTheSameTime) {
  std::atomic<int> begun{0};
  std::mutex guard;
  std::set<std::thread::id> seen;
  on_torch_threads(2, [&](int64_t) {
    ++begun;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (begun < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    const std::lock_guard<std::mutex> lock(guard);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(seen.size(), 2U);
}

TEST_F(TorchThreads, RunEveryTaskOnce) {
  for (const int64_t tasks : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> runs(static_cast<size_t>(tasks));
    on_torch_threads(tasks, [&](int64_t i) { ++runs[static_cast<size_t>(i)]; });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
  }
}

TEST_F(TorchThreads, MayBeUsedInsideAParallelRegion) {
  std::atomic<int> runs{0};
  at::parallel_for(0, 2, 1, [&](int64_t, int64_t) { on_torch_threads(10, [&](int64_t) { ++runs; }); });
  EXPECT_EQ(runs, 20);
}

TEST_F(TorchThreads, PropagateAnExceptionToTheCaller) {
  EXPECT_THROW(on_torch_threads(8,
                                [](int64_t i) {
                                  if (i == 5) throw std::runtime_error("five");
                                }),
               std::runtime_error);
}

}  // namespace
}  // namespace heed
