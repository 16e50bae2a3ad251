#include "heed/base/shell.h"

#include <string_view>

namespace heed {

std::string quoted_for_shell(const std::string& word) {
  constexpr std::string_view kHarmless = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+:@%,=";
  if (!word.empty() && word.find_first_not_of(kHarmless) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace heed
