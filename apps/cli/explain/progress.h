// The progress of tests on standard error: a bar that is redrawn on a terminal, lines elsewhere.
//
//   [########------------] permutation, test 3 of 10: 312/872 texts, 41 s left

#pragma once

#include <optional>
#include <string>

#include "apps/cli/ablate/grid_progress.h"

namespace heed::cli {

struct TestStatus {
  std::string test;
  size_t number = 1, tests = 1;     // from 1
  size_t texts = 0, all_texts = 0;  // of this test
  double share = 0;                 // of its cost that is done
  std::optional<double> seconds_left{};
};

std::string status_text(const TestStatus& status);
std::string bar_text(const TestStatus& status, int columns);

class TestProgress {
 public:
  TestProgress();
  explicit TestProgress(GridProgress::Output output) : output_(std::move(output)) {}
  ~TestProgress() { clear(); }
  TestProgress(const TestProgress&) = delete;
  TestProgress& operator=(const TestProgress&) = delete;

  /// The test that comes next, one of several.
  void name(const std::string& test, size_t number, size_t tests, size_t all_texts);
  /// Begins it, with what was done before; what is left is computed from the rate since then.
  void begin(size_t texts, double share);
  /// Redraws the bar; without a terminal a line a minute.
  void update(size_t texts, double share);
  /// A line of its own, above the bar.
  void line(const std::string& text);
  void clear();

 private:
  GridProgress::Output output_;
  TestStatus status_{};
  double began_ = 0, share_before_ = 0;
  std::optional<double> shown_{};  // when
  std::string bar_{};              // on the screen
};

}  // namespace heed::cli
