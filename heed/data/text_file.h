// Text, one sentence a line.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// U+FEFF in UTF-8: what some editors write at the start of a file.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The longest line that is read. A line is a sentence; what is longer was never meant as one.
inline constexpr size_t kMaxLineBytes = size_t{1} << 20U;

/// The lines of a file, gzip or plain; "-" is the standard input. A byte-order mark is dropped, lines may end in CRLF,
/// and the last line may do without its end. The whole file is checked before any of it is used: a file that is not
/// there, a folder, nothing in it, a gzip file cut short or continued by something else, a byte that is not UTF-8, a
/// line of more than kMaxLineBytes, more text than fits into memory are errors with file and line. Takes linear time.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace heed
