#include "apps/cli/explain/progress.h"

#include <gtest/gtest.h>

namespace heed::cli {
namespace {

class ExplainProgress : public ::testing::Test {
 protected:
  TestProgress on(int columns) {
    return TestProgress({.write = [this](const std::string& text) { written_ += text; },
                         .columns = [columns] { return columns; },
                         .clock = [this] { return now_; }});
  }
  std::string written_;
  double now_ = 100;
};

TEST_F(ExplainProgress, SaysWhatIsLeftFromTheRateOfThisProcess) {
  TestProgress progress = on(70);
  progress.name("permutation", 3, 10, 40);
  progress.begin(10, 0.5);  // before
  now_ += 5;
  progress.update(20, 0.75);
  EXPECT_NE(written_.find("permutation, test 3 of 10: 20/40 texts, 5.0 s left"), std::string::npos) << written_;
  EXPECT_NE(written_.find("[######"), std::string::npos) << written_;
  progress.line("a line");
  EXPECT_NE(written_.find("\r\x1b[Ka line\n["), std::string::npos) << written_;
}

TEST_F(ExplainProgress, IsALineAMinuteInALog) {
  TestProgress progress = on(0);
  progress.name("erasure", 1, 1, 40);
  progress.begin(0, 0);
  EXPECT_EQ(written_, "");
  now_ += 61;
  progress.update(10, 0.25);
  EXPECT_EQ(written_, "erasure: 10/40 texts, 3.0 min left\n");
}

TEST(TestStatus, FitsANarrowTerminal) {
  EXPECT_EQ(bar_text({.test = "erasure", .texts = 1, .all_texts = 2, .share = 0.5}, 10), "erasure: 1");
  EXPECT_EQ(bar_text({.test = "erasure", .texts = 1, .all_texts = 2, .share = 0.5}, 30),
            "[####-----] erasure: 1/2 texts");
}

}  // namespace
}  // namespace heed::cli
