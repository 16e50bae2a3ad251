#include "heed/data/labeled/text_columns.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/data/text_file.h"

namespace heed {
std::vector<TextColumn> read_text_columns(const std::vector<std::string>& written) {
  check(!written.empty(), "data/examples: got no column of text, expected a name or a number from 1");
  std::vector<TextColumn> all;
  for (const auto& text : written) {
    const size_t equals = text.find('=');
    TextColumn column{text.substr(0, equals),
                      fields_of(equals == std::string::npos ? text : text.substr(equals + 1), '+')};
    if (equals == std::string::npos && written.size() == 1) column.name = "text";
    const bool empty = column.name.empty() || std::any_of(column.from.begin(), column.from.end(),
                                                          [](const std::string& from) { return from.empty(); });
    check(!empty, "data/examples: got column '", excerpt(text),
          "', expected a name or a number from 1, several with + as in title+description, or left=2");
    for (const auto& other : all)
      check(other.name != column.name, "data/examples: got the text '", excerpt(column.name),
            "' twice, expected a name for each as in left=2, right=3");
    all.push_back(column);
  }
  return all;
}

}  // namespace heed
