// Tables of text that align in any script: for a terminal, and as Markdown.

#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace heed::cli {

struct Table {
  std::vector<std::string> titles;
  std::vector<bool> right;  // per column: right-aligned, for numbers
  std::vector<std::vector<std::string>> rows;
};

/// Prints the table at most `columns` wide (0: no limit). A wider table is printed as one block per row, with one line
/// per cell.
void print_table(std::ostream& out, const Table& table, int columns);
void print_table_markdown(std::ostream& out, const Table& table);

/// The text with | escaped, which would end a cell even inside `code`; for text of Heed itself.
std::string with_escaped_bars(const std::string& text);
/// Any text as that of a cell: what would be HTML is escaped as well.
std::string markdown_cell(const std::string& text);
/// Any text without line breaks as `code` outside of tables, with as many backticks as it takes.
std::string markdown_code(const std::string& text);

/// Width of the terminal if standard output is one; `elsewhere` if not.
int output_columns(int elsewhere);

}  // namespace heed::cli
