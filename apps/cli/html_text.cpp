#include "apps/cli/html_text.h"

#include "apps/cli/screen.h"

namespace heed::cli {

std::string html_text(const std::string& text) {
  std::string out;
  for (const char letter : printable(text)) switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += letter;
    }
  return out;
}

}  // namespace heed::cli
