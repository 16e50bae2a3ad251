#include "apps/cli/torch/example_text.h"

#include <algorithm>

#include "heed/base/check.h"

namespace heed::cli {

std::vector<std::string> texts_of(const std::string& line, const TextReader& reader, const std::string& where) {
  if (reader.columns.size() == 1) return {line};
  std::vector<std::string> texts;
  for (size_t from = 0; from <= line.size();) {
    const size_t tab = std::min(line.find('\t', from), line.size());
    texts.push_back(line.substr(from, tab - from));
    from = tab + 1;
  }
  check(texts.size() == reader.columns.size(), where, ": got ", texts.size(), texts.size() == 1 ? " text" : " texts",
        ", expected ", reader.columns.size(), " separated by tabs: ", joined(reader.columns));
  return texts;
}

void print_cut(std::ostream& out, const std::string& command, const TextReader& reader, int64_t count) {
  if (count == 0) return;
  out << "heed: " << command << ": cut " << count << (count == 1 ? " text" : " texts")
      << " after data.max_length = " << reader.max_length << " tokens, as in training\n";
}

}  // namespace heed::cli
