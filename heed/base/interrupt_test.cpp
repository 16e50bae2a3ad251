// Signals as a flag.

#include "heed/base/interrupt.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed {
namespace {

TEST(Interrupt, IsRequestedBySignals) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGQUIT}) {
    const InterruptScope interrupt;
    EXPECT_FALSE(interrupt.asked());
    std::raise(number);
    EXPECT_TRUE(interrupt.asked());
    EXPECT_EQ(interrupt.signal(), number);
  }
}

TEST(Interrupt, CountsAForwardedSignalOnce) {
  const InterruptScope interrupt(/*same_signal=*/600);
  std::raise(SIGINT);
  std::raise(SIGINT);
  std::raise(SIGTERM);
  EXPECT_EQ(interrupt.signal(), SIGINT);
}

TEST(InterruptDeathTest, EndsTheProgramTheSecondTime) {
  const auto twice = [](int first, int second) {
    const InterruptScope interrupt(/*same_signal=*/0);
    std::raise(first);
    std::raise(second);
    std::_Exit(0);
  };
  EXPECT_EXIT(twice(SIGINT, SIGINT), ::testing::KilledBySignal(SIGINT), "");
  EXPECT_EXIT(twice(SIGTERM, SIGINT), ::testing::KilledBySignal(SIGINT), "");
  EXPECT_EXIT(twice(SIGINT, SIGTERM), ::testing::ExitedWithCode(0), "");
}

volatile std::sig_atomic_t handled = 0;

TEST(Interrupt, RestoresTheHandlers) {
  const auto before = std::signal(SIGINT, [](int number) { handled = number; });
  {
    const InterruptScope interrupt;
    std::raise(SIGINT);
    EXPECT_EQ(handled, 0);
  }
  std::raise(SIGINT);
  EXPECT_EQ(handled, SIGINT);
  std::signal(SIGINT, before);
}

TEST(Interrupt, LeavesAHangUpIgnoredThatWasIgnoredBefore) {
  const auto before = std::signal(SIGHUP, SIG_IGN);  // as nohup does
  {
    const InterruptScope interrupt;
    std::raise(SIGHUP);
    EXPECT_FALSE(interrupt.asked());
  }
  std::signal(SIGHUP, before);
}

TEST(Interrupt, IsOneAtATime) {
  const InterruptScope interrupt;
  EXPECT_THROW(InterruptScope{}, Error);
}

}  // namespace
}  // namespace heed
