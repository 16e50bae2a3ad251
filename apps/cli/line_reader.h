// Reads lines from a file descriptor as they arrive: interactive input is handled line by line, a file in large
// batches.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::cli {

class LineReader {
 public:
  explicit LineReader(int file) : file_(file) {}

  /// Blocks for one line, then adds lines that are already available, up to `max`. Returns none at the end of the
  /// input. Drops a byte-order mark at the start. Throws with the line number on invalid UTF-8 and on a line longer
  /// than kMaxLineBytes, after the lines before it were returned. Takes linear time for lines of any length.
  std::vector<std::string> some(int64_t max);
  /// Number of lines returned so far.
  int64_t lines() const { return given_; }

 private:
  bool wait_for_more(bool block);  // returns whether it read something
  bool take_line(std::string& line);
  std::string problem(const std::string& line) const;  // error of the line just taken; empty if valid

  int file_;
  std::string read_;  // buffer: consumed up to taken_, searched for '\n' up to searched_
  size_t taken_ = 0, searched_ = 0;
  bool ended_ = false;
  int64_t lines_ = 0, given_ = 0;  // lines taken from the buffer; lines returned
  std::string wrong_;              // error that the next call throws
};

}  // namespace heed::cli
