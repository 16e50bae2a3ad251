// Input as messages show it: in part, and with nothing in it that a terminal would obey.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

/// The text with control characters, bidirectional overrides and bytes that are not UTF-8 written as \n, \x1b, \u202e;
/// of more than max characters the first ones, "...", and how many there are.
std::string excerpt(std::string_view text, size_t max = 80);

/// A message of any origin, ready for a terminal: escaped as above except for line ends; of a very long line the middle
/// is left out, so that where it happened and what was expected stay.
std::string printable_message(std::string_view message);

/// A number of bytes for people: "512 B", "3.2 GB".
std::string readable_bytes(double bytes);

}  // namespace heed
