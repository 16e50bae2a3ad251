// How far training is, on standard error.
//
//   epoch 2/10 [########----------------] step 1234/5000  loss 3.214  12.3k tokens/s  4:05 left
//
// On a terminal one line that is drawn over and over, at most ten times a second, and that makes way for other lines.
// Elsewhere (a file, a batch system) a plain line from time to time.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace heed {

/// Where progress is shown. Tests bring their own.
struct Screen {
  std::function<void(std::string_view)> write;
  bool terminal = false;
  std::function<int()> width;     // columns of the terminal, now
  std::function<double()> clock;  // seconds, never going back

  static Screen standard_error();
};

class Progress {
 public:
  struct Now {
    int64_t epoch = 0, epochs = 0;  // epochs 0: not known
    int64_t step = 0, steps = 0;    // of the whole run; steps 0: not known
    double loss = 0;
    int64_t tokens = 0;  // since this process began to train
  };

  /// plain_every: seconds between lines where there is no terminal.
  explicit Progress(Screen screen = Screen::standard_error(), double plain_every = 30);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// After a step. Cheap: what is not due is not drawn.
  void update(const Now& now);
  /// A line of its own, above the bar.
  void log(const std::string& line);
  /// Takes the bar away; the next update draws it again.
  void clear();

  double tokens_per_second() const { return rate(&Sample::tokens); }

 private:
  struct Sample {
    double time;
    int64_t step, tokens;
  };
  double rate(int64_t Sample::*what) const;  // over the last half minute, 0 when not known
  void remember(double time, const Now& now);
  std::string bar_line(const Now& now, int width) const;
  std::string plain_line(const Now& now) const;
  std::string speed_text() const;
  std::string left_text(const Now& now) const;
  void draw(const Now& now);

  Screen screen_;
  double plain_every_, last_drawn_;
  bool drawn_ = false;  // the bar stands on the screen
  Now shown_{};
  std::deque<Sample> samples_;
};

}  // namespace heed
