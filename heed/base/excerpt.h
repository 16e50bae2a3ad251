// Input as shown in messages: truncated, and with control characters escaped.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

/// The text with control characters, bidirectional overrides and invalid UTF-8 escaped as \n, \x1b, \u202e. Longer than
/// max characters, it is truncated and followed by "..." and the number of characters.
std::string excerpt(std::string_view text, size_t max = 80);

/// A message for a terminal: escaped as above except for line ends. The middle of a very long line is left out, so that
/// the location and the expectation remain.
std::string printable_message(std::string_view message);

/// "512 B", "3.2 GB"; decimal units.
std::string readable_bytes(double bytes);

}  // namespace heed
