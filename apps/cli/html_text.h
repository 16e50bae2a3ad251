// Text inside HTML and SVG.

#pragma once

#include <string>

namespace heed::cli {

/// The text with & < > " escaped, printable (screen.h).
std::string html_text(const std::string& text);

}  // namespace heed::cli
