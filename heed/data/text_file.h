// Text, one sentence a line.

#pragma once

#include <string>
#include <vector>

namespace heed {

/// The lines of a file, gzip or plain; "-" is the standard input. A byte-order mark is dropped, lines may end in CRLF,
/// and the last line may do without its end. The whole file is checked before any of it is used: a file that is not
/// there, a folder, nothing in it, a gzip file cut short, a byte that is not UTF-8 are errors with file and line.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace heed
