// Reads text files with one sentence per line.

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// U+FEFF in UTF-8, which some editors write at the start of a file.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Largest length of a line in bytes. A line is a sentence; longer lines are mistakes.
inline constexpr size_t kMaxLineBytes = size_t{1} << 20U;

/// What an empty file should have.
inline constexpr const char* kSentences = "one sentence a line";

/// The lines of a file, gzip or plain; "-" is standard input. A byte-order mark is dropped, lines may end in CRLF, and
/// the last line may lack a line break. The following are Errors that name the file and, if known, the line: a missing
/// or empty file, a folder, truncated gzip data or other data after it, invalid UTF-8, a line longer than
/// kMaxLineBytes, and more text than half of the free memory. Takes linear time.
std::vector<std::string> read_lines(const std::string& path);
/// The same for other lines than sentences: the message of an empty file says what is expected, "one tree a line".
std::vector<std::string> read_lines_of(const std::string& path, const std::string& expected);

/// Reads a line and its number, from 1.
using LineReader = std::function<void(std::string_view line, size_t number)>;

/// Passes on the lines of a file one by one, for files that are larger than the memory. It is the same as reading all,
/// except that an Error may come after some lines; none comes after a line that is not UTF-8.
void each_line(const std::string& path, const LineReader& read, const std::string& expected = kSentences);

/// The fields of a line between separators: "a", "", "b" of "a,,b".
std::vector<std::string> fields_of(std::string_view line, char separator);

}  // namespace heed
