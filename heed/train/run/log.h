// log.txt: the lines that people read, each with its time, and shown on the screen without it.

#pragma once

#include <functional>
#include <string>

#include "heed/train/run/append_file.h"

namespace heed {

class Log {
 public:
  static constexpr const char* kName = "log.txt";
  using Show = std::function<void(const std::string& line)>;
  using Clock = std::function<double()>;  // seconds since 1970

  /// show: puts a line on the screen, for example Progress::say. Lines of earlier starts of the run stay.
  Log(const std::string& run, Show show, Clock clock = wall_clock);

  void line(const std::string& text);

  static double wall_clock();

 private:
  AppendFile file_;
  Show show_;
  Clock clock_;
};

}  // namespace heed
