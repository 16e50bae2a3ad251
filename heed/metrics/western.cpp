#include "heed/metrics/western.h"

namespace heed {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_no_digit(char c) {
  return !is_digit(c);
}
bool is_point(char c) {
  return c == '.' || c == ',';
}
bool is_dash(char c) {
  return c == '-';
}

using Is = bool (*)(char);

/// Replaces adjacent characters a, b with first(a) and second(b) by before + a + " " + b + after, from left to right
/// and without overlaps.
std::string with_pairs_apart(std::string_view text, Is first, Is second, std::string_view before,
                             std::string_view after) {
  std::string all;
  all.reserve(text.size() * 2);
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !first(text[i]) || !second(text[i + 1])) {
      all += text[i];
      continue;
    }
    all += before;
    all += text[i];
    all += ' ';
    all += text[++i];
    all += after;
  }
  return all;
}

}  // namespace

std::string with_punctuation_apart(std::string_view text) {
  static constexpr std::string_view kPunctuation = " !\"#$%&()*+/:;<=>?@[\\]^_`{|}~";
  std::string all;
  all.reserve(text.size() * 2);
  for (const char c : text) {
    const bool apart = kPunctuation.find(c) != std::string_view::npos;
    if (apart) all += ' ';
    all += c;
    if (apart) all += ' ';
  }
  return all;
}

std::string with_points_apart(std::string_view text) {
  const auto after_letters = with_pairs_apart(text, is_no_digit, is_point, "", " ");
  const auto before_letters = with_pairs_apart(after_letters, is_point, is_no_digit, " ", "");
  return with_pairs_apart(before_letters, is_digit, is_dash, "", " ");
}

}  // namespace heed
