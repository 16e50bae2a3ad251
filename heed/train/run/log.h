// log.txt: lines for people, with a time stamp in the file and without it on the screen.

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

  /// Appends to the log of the run. show: shows a line on the screen, for example Progress::log.
  Log(const std::string& run, Show show, Clock clock = wall_clock);

  void line(const std::string& text);

  static double wall_clock();

 private:
  AppendFile file_;
  Show show_;
  Clock clock_;
};

}  // namespace heed
