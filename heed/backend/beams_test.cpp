#include "heed/backend/beams.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace heed::testing {
namespace {

using at::Tensor;

/// Moves rows of two caches, and compares with what index_select gives.
void expect_moved(at::Device device, int64_t width, int64_t beams, int64_t known_beams, int64_t length) {
  at::manual_seed(5);
  const int64_t sentences = 7, rows = sentences * beams;
  std::vector<Tensor> caches, expected;
  const auto own = at::randint(beams, {sentences, beams}, at::kLong);
  const auto from = (own + at::arange(sentences).unsqueeze(1) * beams).flatten();
  for (int n = 0; n < 2; ++n) {
    const auto cache = at::randn({rows, 3, 5, width});
    expected.push_back(cache.index_select(0, from).narrow(2, 0, length));
    caches.push_back(cache.to(device, /*non_blocking=*/false, /*copy=*/true));
  }
  move_rows(caches, from.to(device), known_beams, at::full({1}, length, at::kLong).to(device));
  for (size_t n = 0; n < caches.size(); ++n)
    EXPECT_TRUE(caches[n].cpu().narrow(2, 0, length).equal(expected[n])) << width << " " << beams << " " << known_beams;
}

void expect_every_move(at::Device device) {
  for (const int64_t width : {3, 8, 64})
    for (const int64_t beams : {1, 5, 8, 9})
      for (const int64_t known : {int64_t{0}, beams})
        for (const int64_t length : {1, 5}) expect_moved(device, width, beams, known, length);
}

TEST(MoveRows, TakesRowsOfTheSameSentence) {
  expect_every_move(at::kCPU);
}

TEST(MoveRows, TakesRowsOfTheSameSentenceOnAGpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  expect_every_move(at::kCUDA);
}

}  // namespace
}  // namespace heed::testing
