#include "heed/attention/mechanism.h"

#include <thread>

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Mechanism, ParsesASpecOnce) {
  const auto first = Mechanism::parse("additive + entmax(1.4)"), second = Mechanism::parse("additive + entmax(1.4)");
  EXPECT_EQ(&first.score(), &second.score());
  EXPECT_EQ(&first.align(), &second.align());
  EXPECT_NE(&first.align(), &Mechanism::parse("additive + entmax(1.6)").align());
  EXPECT_EQ(Mechanism().to_string(), "scaled_dot + softmax");
}

TEST(Mechanism, RefusesAWrongSpecEachTime) {
  for (int i = 0; i < 2; ++i) EXPECT_THROW(Mechanism::parse("additive + entmax(1.4, 1.4, nothing)"), Error);
}

TEST(Mechanism, IsParsedInManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) {
        const std::string spec = "dot + threshold(" + std::to_string(1 + i) + "e-5)";
        EXPECT_EQ(Mechanism::parse(spec).to_string(), spec);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(Mechanism::parse("cosine + sparsemax, single").to_string(), "cosine + sparsemax");
}

}  // namespace
}  // namespace heed
