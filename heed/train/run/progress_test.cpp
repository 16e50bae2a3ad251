// The progress bar, on a fake terminal and a fake clock.

#include "heed/train/run/progress.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace heed {
namespace {

struct Stage {
  std::string written;
  double time = 100;
  int width = 100;
  int writes = 0;

  Screen screen(bool terminal) {
    return {.write =
                [this](std::string_view text) {
                  written += text;
                  ++writes;
                },
            .terminal = terminal,
            .width = [this] { return width; },
            .clock = [this] { return time; }};
  }

  /// The last line of the terminal.
  std::string line() const { return written.substr(written.rfind("\r\x1b[K") + 4); }
};

TEST(Progress, ShowsEpochStepLossSpeedAndTimeLeft) {
  Stage stage;
  Progress progress(stage.screen(true));
  progress.update({.epoch = 2, .epochs = 10, .step = 1000, .steps = 5000, .loss = 3.5, .count = 0});
  EXPECT_EQ(stage.line(), "epoch 2/10 [######------------------------] step 1000/5000  loss 3.500");
  stage.time += 10;
  progress.update({.epoch = 2, .epochs = 10, .step = 1100, .steps = 5000, .loss = 3.25, .count = 123456});
  EXPECT_EQ(stage.line(),
            "epoch 2/10 [######------------------------] step 1100/5000  loss 3.250  12.3k tokens/s  6:30 left");
  EXPECT_EQ(progress.count_per_second(), 12345.6);
}

TEST(Progress, ShowsNoTimeLeftForAnOpenEndedRun) {
  Stage stage;
  Progress progress(stage.screen(true));
  progress.update({.epoch = 1, .epochs = 0, .step = 1, .steps = 0, .loss = 3.5, .count = 0});
  stage.time += 1;
  progress.update({.epoch = 1, .epochs = 0, .step = 2, .steps = 0, .loss = 3.5, .count = 500});
  EXPECT_EQ(stage.line(), "epoch 1 step 2  loss 3.500  500 tokens/s");
}

TEST(Progress, IsDrawnAtMostTenTimesASecond) {
  Stage stage;
  Progress progress(stage.screen(true));
  for (int64_t step = 0; step < 1000; ++step) {
    progress.update({.epoch = 1, .epochs = 1, .step = step, .steps = 1000, .loss = 1, .count = step});
    stage.time += 0.001;
  }
  EXPECT_GE(stage.writes, 9);
  EXPECT_LE(stage.writes, 11);
}

TEST(Progress, FitsEveryTerminal) {
  Stage stage;
  Progress progress(stage.screen(true));
  for (int width = 1; width <= 130; ++width) {
    stage.width = width;
    stage.time += 1;
    const int64_t step = 12345 + width;
    progress.update(
        {.epoch = 2, .epochs = 10, .step = step, .steps = 50000, .loss = 3.25, .count = int64_t{10000} * width});
    const std::string line = stage.line();
    EXPECT_LT(line.size(), static_cast<size_t>(width)) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 0);
    EXPECT_EQ(line.find("left") != std::string::npos, width >= 71) << width << ": " << line;
  }
  EXPECT_EQ(stage.line(),
            "epoch 2/10 [#######-----------------------] step 12475/50000  loss 3.250  10.0k tokens/s  "
            "10:25:25 left");
}

TEST(Progress, StaysBelowOtherLines) {
  Stage stage;
  Progress progress(stage.screen(true));
  progress.log("before");
  EXPECT_EQ(stage.written, "before\n");
  progress.update({.epoch = 1, .epochs = 1, .step = 1, .steps = 2, .loss = 1, .count = 0});
  const std::string bar = stage.line();
  stage.written.clear();
  progress.log("validation: BLEU 37");
  EXPECT_EQ(stage.written, "\r\x1b[Kvalidation: BLEU 37\n\r\x1b[K" + bar);
  stage.written.clear();
  progress.clear();
  progress.log("done");
  EXPECT_EQ(stage.written, "\r\x1b[Kdone\n");
}

TEST(Progress, LeavesTheTerminalClean) {
  Stage stage;
  {
    Progress progress(stage.screen(true));
    progress.update({.epoch = 1, .epochs = 1, .step = 1, .steps = 2, .loss = 1, .count = 0});
    stage.written.clear();
  }
  EXPECT_EQ(stage.written, "\r\x1b[K");
}

TEST(Progress, IsAPlainLineAtIntervalsWithoutATerminal) {
  Stage stage;
  Progress progress(stage.screen(false), /*plain_every=*/30);
  for (int64_t second = 0; second <= 65; ++second) {
    progress.update({.epoch = 1, .epochs = 2, .step = 10 * second, .steps = 1000, .loss = 1, .count = 200 * second});
    stage.time += 1;
  }
  progress.log("done");
  progress.clear();
  EXPECT_EQ(stage.written,
            "epoch 1/2, step 300/1000, loss 1.000, 200 tokens/s, 1:10 left\n"
            "epoch 1/2, step 600/1000, loss 1.000, 200 tokens/s, 0:40 left\n"
            "done\n");
}

TEST(Progress, TakesItsSpeedFromTheLastHalfMinute) {
  Stage stage;
  Progress progress(stage.screen(true));
  int64_t tokens = 0;
  for (int64_t second = 0; second < 200; ++second) {
    tokens += second < 100 ? 1000 : 50;
    progress.update({.epoch = 1, .epochs = 1, .step = second, .steps = 400, .loss = 1, .count = tokens});
    stage.time += 1;
  }
  EXPECT_EQ(progress.count_per_second(), 50);
}

TEST(Progress, KnowsItsSpeedWhenStepsAreMuchShorterThanItsMemory) {
  Stage stage;
  Progress progress(stage.screen(true));
  for (int64_t step = 0; step < 4000; ++step) {
    progress.update({.epoch = 1, .epochs = 1, .step = step, .steps = 4000, .loss = 1, .count = 7 * step});
    stage.time += 0.01;
  }
  EXPECT_NEAR(progress.count_per_second(), 700, 1e-6);
}

}  // namespace
}  // namespace heed
