#include "heed/torch_support/captured.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace heed::testing {
namespace {

TEST(Captured, IsNotAvailableOnTheCpu) {
  EXPECT_FALSE(Captured::available(at::kCPU));
}

TEST(CapturedOnCuda, ReplaysWithNewInputsAndLeavesItsPoolToTheNext) {
  const at::Device device(at::kCUDA, 0);
  if (!Captured::available(device)) GTEST_SKIP() << "no GPU, or a build without CUDA";
  const CaptureStream stream(device);
  const CapturePool pool;
  const auto in = at::ones({1000}, at::TensorOptions().device(device));
  for (int round = 0; round < 3; ++round) {  // the pool is empty between rounds, and its last result still in use
    at::Tensor out;
    Captured work(pool);
    out = in * 2;
    ASSERT_EQ(work.record([&] { out = in * 2 + 1; }), "");
    in.fill_(round + 1);
    work.replay();
    EXPECT_EQ(out.sum().item<double>(), 1000.0 * (2 * (round + 1) + 1));
  }
}

}  // namespace
}  // namespace heed::testing
