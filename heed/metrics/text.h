// String functions with the semantics of Python's str, on which sacreBLEU's scores depend.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// str.split(): words separated by Unicode whitespace.
std::vector<std::string> split_words(std::string_view text);

/// str.rstrip() and str.strip(): without whitespace at the end, or at both ends.
std::string_view without_trailing_whitespace(std::string_view text);
std::string_view without_outer_whitespace(std::string_view text);

/// str.lower(): a sigma at the end of a word becomes a final sigma, and a capital I with a dot keeps its dot.
std::string lower_cased(std::string_view text);

/// str.replace(what, with).
std::string replaced(std::string text, std::string_view what, std::string_view with);

/// Replaces &quot; &amp; &lt; &gt; by their characters, in that order.
std::string unescaped(std::string text);

}  // namespace heed
