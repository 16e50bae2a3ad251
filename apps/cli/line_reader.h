// Lines as they come: a program that feeds us line by line gets an answer to each, a file is read in large batches.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::cli {

class LineReader {
 public:
  explicit LineReader(int file) : file_(file) {}

  /// At least one line unless the input has ended, and as many more, up to `most`, as are there already. A byte that is
  /// not UTF-8 is an error with the number of the line, once the lines before it have been given.
  std::vector<std::string> some(int64_t most);

 private:
  bool wait_for_more(bool block);  // whether something was read
  bool take_line(std::string& line);

  int file_;
  std::string read_;  // not yet taken
  bool ended_ = false;
  int64_t lines_ = 0;
  std::string wrong_;  // what the next call will say
};

}  // namespace heed::cli
