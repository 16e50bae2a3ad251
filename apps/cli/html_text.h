// Text inside HTML and SVG.

#pragma once

#include <string>

namespace heed::cli {

/// The text with & < > " escaped, printable (screen.h); characters that change the direction of text become U+FFFD.
std::string html_text(const std::string& text);

}  // namespace heed::cli
