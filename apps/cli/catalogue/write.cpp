// heed_catalogue <file>: writes a C++ file that defines catalogue_cards(). Runs during the build.

#include <fstream>
#include <iostream>
#include <sstream>

#include "apps/cli/list_catalogue.h"
#include "apps/cli/torch/list_cards.h"

namespace {

std::string generated_file() {
  std::string file =
      "// Written by heed_catalogue (apps/cli/catalogue/write.cpp).\n"
      "#include \"apps/cli/list_catalogue.h\"\n\n"
      "std::vector<heed::cli::Card> heed::cli::catalogue_cards() {\n"
      "  return cards_from_text(";
  const std::string text = heed::cli::cards_to_text(heed::cli::collect_cards());
  constexpr size_t kPart = 8000;  // compilers limit the length of one literal
  for (size_t at = 0; at < text.size(); at += kPart) file += "\n      R\"heed(" + text.substr(at, kPart) + ")heed\"";
  return file + ");\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "heed_catalogue: got " << argc - 1 << " arguments, expected the file to write\n";
    return 2;
  }
  std::ofstream file(argv[1], std::ios::binary);
  file << generated_file() << std::flush;
  if (!file.good()) {
    std::cerr << "heed_catalogue: " << argv[1] << " could not be written completely\n";
    return 1;
  }
  return 0;
}
