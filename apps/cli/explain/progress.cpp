#include "apps/cli/explain/progress.h"

#include <algorithm>
#include <utility>

#include "apps/cli/amount_text.h"

namespace heed::cli {
namespace {

constexpr double kDrawEvery = 0.2, kSayEvery = 60;  // seconds
constexpr const char* kRedraw = "\r\x1b[K";

}  // namespace

std::string status_text(const TestStatus& status) {
  std::string text = status.test;
  if (status.tests > 1) text += ", test " + std::to_string(status.number) + " of " + std::to_string(status.tests);
  text += ": " + std::to_string(status.texts) + "/" + std::to_string(status.all_texts) + " texts";
  if (status.seconds_left && status.texts < status.all_texts) text += ", " + duration(*status.seconds_left) + " left";
  return text;
}

std::string bar_text(const TestStatus& status, int columns) {
  constexpr int kMinBar = 6, kMaxBar = 30;
  const std::string text = status_text(status);
  const int width = std::min(kMaxBar, columns - static_cast<int>(text.size()) - 3);  // brackets and a space
  if (width < kMinBar) return text.substr(0, static_cast<size_t>(std::max(columns, 0)));
  const auto all = static_cast<size_t>(width);
  const auto done = std::min(all, static_cast<size_t>(std::max(0.0, status.share) * width));
  return "[" + std::string(done, '#') + std::string(all - done, '-') + "] " + text;
}

TestProgress::TestProgress() : output_(GridProgress::standard_error()) {}

void TestProgress::name(const std::string& test, size_t number, size_t tests, size_t all_texts) {
  status_ = {.test = test, .number = number, .tests = tests, .all_texts = all_texts};
}

void TestProgress::begin(size_t texts, double share) {
  began_ = output_.clock();
  share_before_ = share;
  update(texts, share);
}

void TestProgress::update(size_t texts, double share) {
  const double now = output_.clock();
  status_.texts = texts;
  status_.share = share;
  status_.seconds_left.reset();
  if (share > share_before_) status_.seconds_left = (now - began_) / (share - share_before_) * std::max(0.0, 1 - share);
  const int columns = output_.columns();
  if (!shown_ && columns == 0) shown_ = now;  // the first line after a minute
  if (shown_ && now - *shown_ < (columns > 0 ? kDrawEvery : kSayEvery)) return;
  shown_ = now;
  if (columns == 0) return output_.write(status_text(status_) + "\n");
  bar_ = bar_text(status_, columns - 1);
  output_.write(kRedraw + bar_);
}

void TestProgress::line(const std::string& text) {
  const std::string bar = std::exchange(bar_, "");
  output_.write((bar.empty() ? "" : kRedraw) + text + "\n" + bar);
  bar_ = bar;
}

void TestProgress::clear() {
  if (!bar_.empty()) output_.write(kRedraw);
  bar_.clear();
}

}  // namespace heed::cli
