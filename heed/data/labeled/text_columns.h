// The columns of a table that are the texts of an example. Each is written as
//
//   text                 a name or a number of a column
//   title+description    several columns, joined by one blank
//   left=2+3             with another name; structures with several inputs know them by name
//
// One text without a name is called "text", several are called as they are written.

#pragma once

#include <string>
#include <vector>

namespace heed {

struct TextColumn {
  std::string name;
  std::vector<std::string> from;  // columns of the file, by name or number
};

/// An Error for a text without a column, and for two texts with the same name.
std::vector<TextColumn> read_text_columns(const std::vector<std::string>& written);

}  // namespace heed
