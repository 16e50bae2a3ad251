// The progress of an ablation on standard error: a bar that is redrawn on a terminal, lines elsewhere, with what is
// left.
//
//   [########----------------] 12/36 runs, 2 at work, 1 failed, 41 min left

#pragma once

#include <functional>
#include <optional>
#include <string>

namespace heed::cli {

struct GridStatus {
  size_t finished = 0, failed = 0, at_work = 0, all = 0;
  std::optional<double> seconds_left{};
};

/// "12/36 runs, 2 at work, 1 failed, 41 min left"
std::string status_text(const GridStatus& status);
/// The same with a bar before it, at most `columns` wide.
std::string bar_text(const GridStatus& status, int columns);

class GridProgress {
 public:
  /// Where it is written; tests replace it. columns: of the terminal, 0 if it is none.
  struct Output {
    std::function<void(const std::string&)> write;
    std::function<int()> columns;
    std::function<double()> clock;  // seconds
  };
  static Output standard_error();

  GridProgress();
  explicit GridProgress(Output output) : output_(std::move(output)) {}
  ~GridProgress() { clear(); }
  GridProgress(const GridProgress&) = delete;
  GridProgress& operator=(const GridProgress&) = delete;

  /// Redraws the bar; without a terminal a line a minute.
  void update(const GridStatus& status);
  /// A line of its own, above the bar.
  void line(const std::string& text);
  void clear();

 private:
  Output output_;
  std::optional<double> shown_{};  // when
  std::string bar_{};              // on the screen
};

}  // namespace heed::cli
