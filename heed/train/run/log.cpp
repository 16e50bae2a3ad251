#include "heed/train/run/log.h"

#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>

namespace heed {
namespace {

/// "2020-02-29 23:59:59", local time
std::string stamp(double seconds) {
  const auto whole = static_cast<std::time_t>(std::floor(seconds));
  std::tm parts{};
  ::localtime_r(&whole, &parts);
  std::array<char, 32> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return {text.data(), length};
}

}  // namespace

Log::Log(const std::string& run, Show show, Clock clock)
    : file_(run + "/" + kName), show_(std::move(show)), clock_(std::move(clock)) {}

void Log::line(const std::string& text) {
  if (show_) show_(text);
  file_.append(stamp(clock_()) + "  " + text + "\n");
}

double Log::wall_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace heed
