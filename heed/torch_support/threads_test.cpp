#include "heed/torch_support/threads.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <omp.h>
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
TEST_F(ThreadCount, AppliesToTorchsLoops) {
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

TEST_F(ThreadCount, HasBounds) {
  EXPECT_THROW(use_threads(0), Error);
  EXPECT_THROW(use_threads(1000), Error);
}

TEST_F(ThreadCount, IsTheNumberThatOpenMpProvides) {
  const int levels = omp_get_max_active_levels();
  omp_set_max_active_levels(0);  // every parallel region has one thread, as with OMP_THREAD_LIMIT=1
  EXPECT_EQ(use_threads(2), 1);
  EXPECT_EQ(at::get_num_threads(), 1);
  omp_set_max_active_levels(levels);
  EXPECT_EQ(use_threads(2), 2);
}

TEST_F(ThreadCount, DoesNotChangeWithTheLoadOfTheMachine) {
  omp_set_dynamic(1);
  use_threads(2);
  EXPECT_EQ(omp_get_dynamic(), 0);
}

TEST_F(ThreadCount, FollowsAValidEnvironmentVariable) {
  const char* before = std::getenv("OMP_NUM_THREADS");
  const std::string kept = before ? before : "";
  const auto with = [](const char* text) {
    ::setenv("OMP_NUM_THREADS", text, 1);
    return default_threads();
  };
  EXPECT_EQ(with("3"), 3);
  EXPECT_EQ(with("5,2"), 5);
  EXPECT_EQ(with("100000"), kMaxThreads);
  for (const char* nothing : {"", "0", "-2", "abc", "3x"})
    EXPECT_EQ(with(nothing), std::min(threads_from_affinity(), kMaxThreads)) << nothing;
  ::unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(default_threads(), std::min(threads_from_affinity(), kMaxThreads));
  if (before) ::setenv("OMP_NUM_THREADS", kept.c_str(), 1);
}

TEST(Blas, IsNamedAndWarnsUnlessItSharesTorchsThreads) {
  EXPECT_FALSE(blas_in_use().name.empty());
  EXPECT_EQ((Blas{"OpenBLAS", "openmp"}.warning()), "");
  for (const char* other : {"pthread", "none", "unknown"})
    EXPECT_NE((Blas{"OpenBLAS", other}.warning().find("libopenblas0-openmp")), std::string::npos) << other;
}

}  // namespace
}  // namespace heed
