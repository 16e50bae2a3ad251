// Text in columns that line up in any script: for a terminal, narrow or wide, and as Markdown.

#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace heed::cli {

struct Table {
  std::vector<std::string> titles;
  std::vector<bool> right;  // of each column: numbers are aligned on the right
  std::vector<std::vector<std::string>> rows;
};

/// In so many columns of a terminal, 0: as many as it takes. Where the table is wider, each row is printed as a block
/// with a line for each cell.
void print_table(std::ostream& out, const Table& table, int columns);
void print_table_markdown(std::ostream& out, const Table& table);

/// The text of a cell: | would end it, even inside `code`.
std::string markdown_cell(const std::string& text);

/// Columns of the terminal that standard output is; `elsewhere` where it is none.
int output_columns(int elsewhere);

}  // namespace heed::cli
