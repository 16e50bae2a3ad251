#include "apps/cli/ablate/grid_progress.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include "apps/cli/amount_text.h"

namespace heed::cli {
namespace {

constexpr double kBarEvery = 0.5, kLineEvery = 60;  // seconds
constexpr const char* kClearBar = "\r\x1b[K";

int error_columns() {
  const char* kind = std::getenv("TERM");
  winsize size{};
  constexpr int kDefault = 80;
  if (::isatty(STDERR_FILENO) == 0 || kind == nullptr || std::string_view(kind) == "dumb") return 0;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kDefault;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string status_text(const GridStatus& status) {
  std::string text = std::to_string(status.finished) + "/" + std::to_string(status.all) + " runs";
  if (status.at_work > 0) text += ", " + std::to_string(status.at_work) + " at work";
  if (status.failed > 0) text += ", " + std::to_string(status.failed) + " failed";
  if (status.seconds_left && status.at_work > 0) text += ", " + duration(*status.seconds_left) + " left";
  return text;
}

std::string bar_text(const GridStatus& status, int columns) {
  constexpr int kMinBar = 6, kMaxBar = 30;
  const std::string text = status_text(status);
  const int width = std::min(kMaxBar, columns - static_cast<int>(text.size()) - 3);  // brackets and a space
  if (width < kMinBar) return text.substr(0, static_cast<size_t>(std::max(columns, 0)));
  const auto all = static_cast<size_t>(width);
  const size_t done = status.all == 0 ? 0 : all * (status.finished + status.failed) / status.all;
  return "[" + std::string(done, '#') + std::string(all - done, '-') + "] " + text;
}

GridProgress::Output GridProgress::standard_error() {
  return {.write = [](const std::string& text) { std::cerr << text << std::flush; },
          .columns = error_columns,
          .clock = seconds_now};
}

GridProgress::GridProgress() : GridProgress(standard_error()) {}

void GridProgress::update(const GridStatus& status) {
  const int columns = output_.columns();
  const double now = output_.clock();
  if (!shown_ && columns == 0) shown_ = now;  // the first line after a minute
  if (shown_ && now - *shown_ < (columns > 0 ? kBarEvery : kLineEvery)) return;
  shown_ = now;
  if (columns == 0) return output_.write(status_text(status) + "\n");
  bar_ = bar_text(status, columns - 1);
  output_.write(kClearBar + bar_);
}

void GridProgress::line(const std::string& text) {
  const std::string bar = std::exchange(bar_, "");
  output_.write((bar.empty() ? "" : kClearBar) + text + "\n" + bar);
  bar_ = bar;
}

void GridProgress::clear() {
  if (!bar_.empty()) output_.write(kClearBar);
  bar_.clear();
}

}  // namespace heed::cli
