#include "heed/base/catalogue.h"

namespace heed {

std::string catalogue_term(const std::string& text) {
  std::string term;
  for (const char letter : text) {
    const bool between = letter == ' ' || letter == '-' || letter == '_';
    if (between && (term.empty() || term.back() == '_')) continue;
    term += between ? '_' : letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  while (!term.empty() && term.back() == '_') term.pop_back();
  return term;
}

}  // namespace heed
