#include "heed/torch_support/memory_limit.h"

#include <cstdint>

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

constexpr int64_t kMega = 1'000'000;  // floats: 4 MB

TEST(MemoryLimit, RefusesATensorThatWouldGoBeyond) {
  at::Tensor kept;
  {
    const MemoryLimit limit(10'000'000);
    kept = at::ones({kMega});
    try {
      at::empty({1 << 20, 1 << 20});
      FAIL() << "4 TB were allocated";
    } catch (const MemoryLimitExceeded& error) {
      EXPECT_EQ(error.needed, 4'000'000 + (uint64_t{1} << 42));
      EXPECT_STREQ(error.what(), "tensors need at least 4.4 TB, expected at most 10 MB");
    }
    EXPECT_THROW(at::empty({2 * kMega}), Error);
    EXPECT_EQ(kept.sum().item<double>(), 1e6);
  }
  const auto free = at::ones({4 * kMega});  // no limit any more
  EXPECT_EQ(kept.add(1).sum().item<double>(), 2e6);
}

TEST(MemoryLimit, DoesNotCountWhatWasFreed) {
  const MemoryLimit limit(10'000'000);
  for (int i = 0; i < 10; ++i) EXPECT_NO_THROW(at::empty({kMega}));
}

TEST(MemoryLimit, AppliesInsideAnother) {
  const MemoryLimit outer(10'000'000);
  {
    const MemoryLimit inner(100'000'000);
    EXPECT_THROW(at::empty({4 * kMega}), Error);  // the outer limit applies
  }
  {
    const MemoryLimit inner(1'000'000);
    EXPECT_THROW(at::empty({kMega}), Error);
  }
  EXPECT_NO_THROW(at::empty({kMega}));
}

// Libraries that torch calls, such as that of convolutions, allocate without a DataPtr.
TEST(MemoryLimit, CountsAndFreesRawMemory) {
  const MemoryLimit limit(10'000'000);
  auto* const allocator = c10::GetCPUAllocator();
  for (int i = 0; i < 3; ++i) {
    void* const memory = allocator->raw_allocate(4'000'000);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0U);
    void* const more = allocator->raw_allocate(4'000'000);
    EXPECT_THROW(allocator->raw_allocate(4'000'000), Error);
    allocator->raw_deallocate(memory);
    allocator->raw_deallocate(more);
  }
  EXPECT_EQ(at::empty({0}).numel(), 0);
}

TEST(MemoryLimit, LetsConvolutionsOfManyTextsRun) {
  const auto x = at::ones({32, 16, 20}), weight = at::ones({16, 16, 3}), bias = at::zeros({16});
  const auto expected = at::conv1d(x, weight, bias, 1, 1);
  const MemoryLimit limit(100'000'000);
  EXPECT_TRUE(at::conv1d(x, weight, bias, 1, 1).equal(expected));
}

}  // namespace
}  // namespace heed
