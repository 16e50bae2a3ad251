#include "heed/base/scalar.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace heed {

bool read_number(std::string_view text, double& value) {
  if (text == ".inf" || text == "+.inf" || text == "-.inf") {
    value = (text.front() == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
    return true;
  }
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with("-+") || text.find_first_of("0123456789") == std::string_view::npos) return false;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stopped == text.data() + text.size() && std::isfinite(value);
}

bool read_integer(std::string_view text, int64_t& value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: above it a double does not represent all integers
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && stopped == text.data() + text.size()) return true;
  double real = 0;
  if (!read_number(text, real) || real != std::floor(real) || std::abs(real) > kExact) return false;
  value = static_cast<int64_t>(real);
  return true;
}

bool read_flag(std::string_view text, bool& value) {
  std::string small(text);
  for (char& letter : small)
    if ('A' <= letter && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  value = small == "true" || small == "yes" || small == "on";
  return value || small == "false" || small == "no" || small == "off";
}

std::string written_number(double value) {
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  const size_t e = text.find('e');
  if (e != std::string::npos && text.find('.') == std::string::npos) text.insert(e, ".0");
  return text;
}

bool needs_quotes(const std::string& text) {
  double number = 0;
  bool flag = false;
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL" ||
         read_number(text, number) || read_flag(text, flag);
}

}  // namespace heed
