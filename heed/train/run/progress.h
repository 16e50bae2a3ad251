// Shows the progress of training on standard error.
//
//   epoch 2/10 [########----------------] step 1234/5000  loss 3.214  12.3k tokens/s  4:05 left
//
// On a terminal, one line is redrawn at most ten times per second, below other lines. Elsewhere (a file, a batch
// system), a plain line is written at intervals.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace heed {

/// The output of the progress bar; tests replace it.
struct Screen {
  std::function<void(std::string_view)> write;
  bool terminal = false;
  std::function<int()> width;     // current columns of the terminal
  std::function<double()> clock;  // seconds, monotonic

  static Screen standard_error();
};

class Progress {
 public:
  struct Now {
    int64_t epoch = 0, epochs = 0;  // epochs 0: unknown
    int64_t step = 0, steps = 0;    // of the whole run; steps 0: unknown
    double loss = 0;
    int64_t count = 0;            // terms of the loss since the start of this process
    std::string unit = "tokens";  // of the count
  };

  /// plain_every: seconds between lines without a terminal.
  explicit Progress(Screen screen = Screen::standard_error(), double plain_every = 30);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Call it after each step. Cheap: draws only when due.
  void update(const Now& now);
  /// Writes a line above the bar.
  void log(const std::string& line);
  /// Removes the bar; the next update draws it again.
  void clear();

  /// Over the last half minute; 0 if unknown.
  double count_per_second() const { return rate(&Sample::count); }

 private:
  struct Sample {
    double time;
    int64_t step, count;
  };
  double rate(int64_t Sample::*what) const;  // per second, over the last half minute; 0 if unknown
  void remember(double time, const Now& now);
  std::string bar_line(const Now& now, int width) const;
  std::string plain_line(const Now& now) const;
  std::string speed_text(const Now& now) const;
  std::string left_text(const Now& now) const;
  void draw(const Now& now);

  Screen screen_;
  double plain_every_, last_drawn_;
  bool drawn_ = false;  // the bar is on the screen
  Now shown_{};
  std::deque<Sample> samples_;
};

}  // namespace heed
