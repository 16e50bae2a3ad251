#include "heed/models/translate/beam_tensors.h"

#include <gtest/gtest.h>

#include "heed/data/tokenizer.h"

namespace heed::testing {
namespace {

// The kernel chooses what tensor operations choose: numbers, ties, end markers among the best, and NaN.
TEST(BeamTensors, ChoosesTheSameOnAGpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU";
  const at::NoGradGuard no_grad;
  for (const int64_t width : {1, 3, 5})
    for (const bool fixed : {false, true}) {
      at::manual_seed(width);
      BeamTensors here(6, width, at::kCPU), there(6, width, at::kCUDA);
      for (int step = 0; step < 5; ++step) {
        SCOPED_TRACE(std::to_string(width) + " beams, step " + std::to_string(step));
        auto logits = at::randn({6 * here.beams(), 40});
        logits.select(1, Tokenizer::kEnd).add_(3);  // among the best
        if (step == 4) logits[0].fill_(std::nan(""));
        const auto expected = here.extend(logits), found = there.extend(logits.cuda());
        EXPECT_TRUE(found.log_probability.cpu().allclose(expected.log_probability, 1e-5, 1e-5, /*equal_nan=*/true));
        if (step == 4) continue;  // the order of NaN is nobody's
        EXPECT_TRUE(found.beam.cpu().equal(expected.beam));
        EXPECT_TRUE(found.token.cpu().equal(expected.token));
        EXPECT_TRUE(there.tokens().cpu().equal(here.tokens()));
        EXPECT_EQ(there.rows().defined(), here.rows().defined());
        if (here.rows().defined()) {
          EXPECT_TRUE(there.rows().cpu().equal(here.rows()));
        }
        if (fixed && step == 1) {
          here.fix();
          there.fix();
        }
      }
    }
}

}  // namespace
}  // namespace heed::testing
