// Reads the files of an evaluation and remembers what was read, for the origin of its figures.

#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace heed::cli {

class FileReader {
 public:
  using Lines = std::function<std::vector<std::string>(const std::string& path)>;

  explicit FileReader(Lines lines) : lines_(std::move(lines)) {}

  /// expected: of each line, "a number"; for the message if the file is empty.
  std::vector<std::string> lines(const std::string& path, const std::string& expected);
  /// Lines that belong to those of another file, one to one; another number of them is an Error.
  std::vector<std::string> lines_beside(const std::string& path, const std::string& first_path, size_t first_lines,
                                        const std::string& expected);
  /// All bytes of a file, which belongs to a set: a folder, or the file itself.
  std::string bytes(const std::string& path, const std::string& set);

  /// The chained md5 (md5_of_lines) of the lines of each file; of a set that of the md5 of its files, sorted by path.
  std::map<std::string, std::set<std::string>> hashes() const;

 private:
  Lines lines_;
  std::map<std::string, std::string> hashes_;                          // by path
  std::map<std::string, std::map<std::string, std::string>> of_sets_;  // by set and path
};

/// "eval: gold.txt:17: ", the beginning of a message about a line.
std::string at_line(const std::string& path, size_t index);

/// The parts of a text between spaces and tabs.
std::vector<std::string> parts_of(const std::string& text);

/// Refuses a text with control characters other than tabs, such as NUL bytes of a binary file.
void check_plain(const std::string& path, size_t index, const std::string& text);

/// A finite number; anything else is an Error that names the line. expected: "a number", "4 numbers, x1 y1 x2 y2".
double finite_number_of(const std::string& path, size_t index, const std::string& text, const std::string& expected);

}  // namespace heed::cli
