// Text as Python's str treats it, since that is what the numbers of sacreBLEU rest on.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Words between whitespace of any script: str.split().
std::vector<std::string> split_words(std::string_view text);

/// Without whitespace at the end, or at both ends: str.rstrip(), str.strip().
std::string_view without_trailing_whitespace(std::string_view text);
std::string_view without_outer_whitespace(std::string_view text);

/// str.lower(): the last sigma of a word is a final one, and a capital I with a dot keeps its dot.
std::string lower_cased(std::string_view text);

/// Each `what` written as `with`: str.replace().
std::string replaced(std::string text, std::string_view what, std::string_view with);

/// &quot; &amp; &lt; &gt; as characters, one after the other.
std::string unescaped(std::string text);

}  // namespace heed
