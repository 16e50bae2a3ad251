#include "heed/train/run/progress.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr double kBetweenDraws = 0.1, kBetweenSamples = 0.5, kMemory = 30;  // seconds
constexpr const char* kClearLine = "\r\x1b[K";

void write_to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count < 0 && errno != EINTR) return;  // output failed: not a reason to end training
    if (count > 0) text.remove_prefix(static_cast<size_t>(count));
  }
}

bool stderr_is_terminal() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

int stderr_width() {
  winsize size{};
  constexpr int kDefaultColumns = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kDefaultColumns;
}

double steady_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string formatted(const char* format, double value) {
  char text[64];
  const int length = std::snprintf(text, sizeof text, format, value);
  return {text, static_cast<size_t>(std::clamp(length, 0, 63))};
}

/// "987", "12.3k", "4.56M"
std::string short_count(double value) {
  if (value < 999.5) return formatted("%.0f", value);
  if (value < 99'950) return formatted("%.1fk", value / 1e3);
  if (value < 999'500) return formatted("%.0fk", value / 1e3);
  return formatted("%.2fM", value / 1e6);
}

/// "4:05", "1:02:03", "3 days"
std::string duration(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  const auto two = [](int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  constexpr int64_t kDay = 86400;
  if (whole >= 2 * kDay) return std::to_string(whole / kDay) + " days";
  const int64_t hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
  if (hours > 0) return std::to_string(hours) + ":" + two(minutes) + ":" + two(rest);
  return std::to_string(minutes) + ":" + two(rest);
}

std::string of(int64_t number, int64_t all) {
  return std::to_string(number) + (all > 0 ? "/" + std::to_string(all) : "");
}

}  // namespace

Screen Screen::standard_error() {
  return {.write = write_to_stderr, .terminal = stderr_is_terminal(), .width = stderr_width, .clock = steady_clock};
}

Progress::Progress(Screen screen, double plain_every)
    : screen_(std::move(screen)),
      plain_every_(plain_every),
      last_drawn_(screen_.terminal ? -kBetweenDraws : screen_.clock()) {}

void Progress::update(const Now& now) {
  const double time = screen_.clock();
  remember(time, now);
  shown_ = now;
  if (time - last_drawn_ < (screen_.terminal ? kBetweenDraws : plain_every_)) return;
  last_drawn_ = time;
  if (screen_.terminal) {
    draw(now);
  } else {
    screen_.write(plain_line(now) + "\n");
  }
}

void Progress::log(const std::string& line) {
  const bool again = drawn_;
  clear();
  screen_.write(line + "\n");
  if (again) draw(shown_);
}

void Progress::clear() {
  if (drawn_) screen_.write(kClearLine);
  drawn_ = false;
}

void Progress::draw(const Now& now) {
  screen_.write(kClearLine + bar_line(now, screen_.width() - 1));  // the last column would wrap on some terminals
  drawn_ = true;
}

void Progress::remember(double time, const Now& now) {
  const Sample sample{time, now.step, now.count};
  // Replaces the newest sample until it is kBetweenSamples after the previous one.
  const size_t count = samples_.size();
  if (count > 1 && samples_[count - 1].time - samples_[count - 2].time < kBetweenSamples) samples_.pop_back();
  samples_.push_back(sample);
  while (samples_.size() > 2 && time - samples_.front().time > kMemory) samples_.pop_front();
}

double Progress::rate(int64_t Sample::*what) const {
  if (samples_.size() < 2) return 0;
  const Sample &first = samples_.front(), &last = samples_.back();
  const double seconds = last.time - first.time;
  return seconds > 0 ? static_cast<double>(last.*what - first.*what) / seconds : 0;
}

std::string Progress::speed_text(const Now& now) const {
  const double speed = count_per_second();
  return speed > 0 ? short_count(speed) + " " + now.unit + "/s" : "";
}

std::string Progress::left_text(const Now& now) const {
  const double speed = rate(&Sample::step);
  return now.steps > 0 && speed > 0 ? duration(static_cast<double>(now.steps - now.step) / speed) + " left" : "";
}

/// On a narrow terminal the bar shrinks first, then the last fields are dropped.
std::string Progress::bar_line(const Now& now, int width) const {
  constexpr int kMinBar = 6, kMaxBar = 30;
  const std::string head = "epoch " + of(now.epoch, now.epochs) + " ";
  std::vector<std::string> pieces{"step " + of(now.step, now.steps), "loss " + formatted("%.3f", now.loss)};
  for (const auto& piece : {speed_text(now), left_text(now)})
    if (!piece.empty()) pieces.push_back(piece);
  const auto space = [&] { return width - static_cast<int>(head.size() + joined(pieces, "  ").size()); };
  while (pieces.size() > 1 && space() < 0) pieces.pop_back();
  std::string line = head;
  const int buffer = std::min(space() - 3, kMaxBar);  // brackets and a space
  if (now.steps > 0 && buffer >= kMinBar) {
    const double share = std::clamp(static_cast<double>(now.step) / static_cast<double>(now.steps), 0.0, 1.0);
    const auto done = static_cast<size_t>(share * buffer);
    line += "[" + std::string(done, '#') + std::string(static_cast<size_t>(buffer) - done, '-') + "] ";
  }
  line += joined(pieces, "  ");
  return line.substr(0, static_cast<size_t>(std::max(width, 0)));
}

std::string Progress::plain_line(const Now& now) const {
  std::string line = "epoch " + of(now.epoch, now.epochs) + ", step " + of(now.step, now.steps) + ", loss " +
                     formatted("%.3f", now.loss);
  for (const auto& piece : {speed_text(now), left_text(now)})
    if (!piece.empty()) line += ", " + piece;
  return line;
}

}  // namespace heed
