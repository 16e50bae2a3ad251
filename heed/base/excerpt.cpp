#include "heed/base/excerpt.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr size_t kMaxLine = 1600, kLineStart = 1000, kLineEnd = 500;  // characters of one line

/// Control and format characters: cursor movement, colors, text direction.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

std::string escape(const char* format, unsigned code) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), format, code);
  return text.data();
}

void append_escaped(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) out += escape("\\x%02x", static_cast<unsigned char>(byte));
}

void append_character(std::string& out, char32_t c) {
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\r') {
    out += "\\r";
  } else if (is_control(c)) {
    out += escape(c < 0x100 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(c));
  } else {
    out += encoded(c);
  }
}

/// The first `count` characters, escaped; bytes: their length in the text.
std::string escaped(std::string_view text, size_t count, size_t& bytes) {
  std::string out;
  bytes = 0;
  for (size_t done = 0; done < count && bytes < text.size(); ++done) {
    const std::string_view rest = text.substr(bytes, 4);
    const std::u32string next = decoded(rest);
    const size_t length = encoded(next.front()).size();
    const bool valid = rest.substr(0, length) == encoded(next.front());  // false if U+FFFD replaces invalid UTF-8
    if (valid) {
      append_character(out, next.front());
    } else {
      append_escaped(out, rest.substr(0, 1));
    }
    bytes += valid ? length : 1;
  }
  return out;
}

size_t count_characters(std::string_view text) {
  size_t count = 0;
  for (const char byte : text) count += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

std::string printable_line(std::string_view line) {
  size_t bytes = 0;
  if (line.size() <= kMaxLine) return escaped(line, line.size(), bytes);
  const std::string start = escaped(line, kLineStart, bytes);
  const std::string_view end = line.substr(line.size() - kLineEnd);
  size_t first = 0;  // start of the first whole character
  while (first < 4 && (static_cast<unsigned char>(end[first]) & 0xC0U) == 0x80U) ++first;
  return start + " [...] " + escaped(end.substr(first), kLineEnd, bytes);
}

}  // namespace

std::string excerpt(std::string_view text, size_t max) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (plain && text.size() <= max) return std::string(text);
  size_t bytes = 0;
  const std::string shown = escaped(text, max, bytes);
  return bytes == text.size() ? shown : shown + "... (" + std::to_string(count_characters(text)) + " characters)";
}

std::string printable_message(std::string_view message) {
  std::string out;
  for (size_t begin = 0; begin <= message.size();) {
    const size_t end = std::min(message.find('\n', begin), message.size());
    if (begin > 0) out += '\n';
    out += printable_line(message.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::string readable_bytes(double bytes) {
  constexpr std::array<const char*, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), bytes < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, kUnits[unit]);
  return text.data();
}

}  // namespace heed
