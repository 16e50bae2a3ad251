#include "heed/bridge/threads.h"

#include <mutex>
#include <sched.h>
#include <set>
#include <thread>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed {
namespace {

/// Restores the number of threads that other tests run with.
class ThreadCount : public testing::Test {
 protected:
  ~ThreadCount() override { use_threads(before_); }
  const int before_ = at::get_num_threads();
};

TEST_F(ThreadCount, IsWhatTheAffinityMaskAllows) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(threads_from_affinity(), CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const int found = threads_from_affinity();
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(found, 1);
}

// A file compiled without -fopenmp gets a parallel_for that runs everything on the calling thread.
TEST_F(ThreadCount, HoldsForTorchsLoops) {
  use_threads(2);
  EXPECT_EQ(at::get_num_threads(), 2);
  std::mutex guard;
  std::set<std::thread::id> seen;
  at::parallel_for(0, 2, 1, [&](int64_t, int64_t) {
    const std::lock_guard<std::mutex> lock(guard);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(seen.size(), 2U);
}

TEST_F(ThreadCount, IsAtLeastOne) {
  EXPECT_THROW(use_threads(0), Error);
}

TEST(Blas, IsNamedAndWarnsUnlessItSharesTorchsThreads) {
  EXPECT_FALSE(blas_in_use().name.empty());
  EXPECT_EQ((Blas{"OpenBLAS", "openmp"}.warning()), "");
  for (const char* other : {"pthread", "none", "unknown"})
    EXPECT_NE((Blas{"OpenBLAS", other}.warning().find("libopenblas0-openmp")), std::string::npos) << other;
}

}  // namespace
}  // namespace heed
