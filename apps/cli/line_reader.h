// Lines as they come: a program that feeds us line by line gets an answer to each, a file is read in large batches.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::cli {

class LineReader {
 public:
  explicit LineReader(int file) : file_(file) {}

  /// At least one line unless the input has ended, and as many more, up to `most`, as are there already. A byte-order
  /// mark at the start is dropped. A byte that is not UTF-8 and a line that is too long (kMaxLineBytes) are errors with
  /// the number of the line, once the lines before it have been given. Takes linear time, however long the lines are.
  std::vector<std::string> some(int64_t max);
  /// Lines given so far.
  int64_t lines() const { return given_; }

 private:
  bool wait_for_more(bool block);  // whether something was read
  bool take_line(std::string& line);
  std::string problem(const std::string& line) const;  // "", or what is wrong with the line that was just taken

  int file_;
  std::string read_;  // what was read; taken up to taken_, searched for a line's end up to searched_
  size_t taken_ = 0, searched_ = 0;
  bool ended_ = false;
  int64_t lines_ = 0, given_ = 0;  // taken, given
  std::string wrong_;              // what the next call will say
};

}  // namespace heed::cli
