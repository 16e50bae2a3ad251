#include "apps/cli/table.h"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

#include "apps/cli/screen.h"

namespace heed::cli {
namespace {

constexpr int kGap = 2;  // spaces between two columns of a table

std::vector<int> widths_of(const Table& table) {
  std::vector<int> widths;
  for (size_t j = 0; j < table.titles.size(); ++j) {
    widths.push_back(display_width(table.titles[j]));
    for (const auto& row : table.rows) widths.back() = std::max(widths.back(), display_width(row[j]));
  }
  return widths;
}

void print_row(std::ostream& out, const Table& table, const std::vector<std::string>& cells,
               const std::vector<int>& widths) {
  std::string line;
  for (size_t j = 0; j < cells.size(); ++j) {
    if (j > 0) line += std::string(kGap, ' ');
    line += table.right[j] ? padded_left(cells[j], widths[j]) : padded(cells[j], widths[j]);
  }
  out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
}

void print_blocks(std::ostream& out, const Table& table) {
  int label = 0;
  for (const auto& title : table.titles) label = std::max(label, display_width(title));
  for (size_t i = 0; i < table.rows.size(); ++i) {
    out << (i == 0 ? "" : "\n") << table.rows[i][0] << '\n';
    for (size_t j = 1; j < table.titles.size(); ++j)
      out << "  " << padded(table.titles[j], label + kGap) << table.rows[i][j] << '\n';
  }
}

void print_markdown_row(std::ostream& out, const std::vector<std::string>& cells) {
  out << '|';
  for (const auto& cell : cells) out << ' ' << markdown_cell(cell) << " |";
  out << '\n';
}

}  // namespace

void print_table(std::ostream& out, const Table& table, int columns) {
  const auto widths = widths_of(table);
  int total = -kGap;
  for (const int width : widths) total += width + kGap;
  if (columns > 0 && total > columns) return print_blocks(out, table);
  print_row(out, table, table.titles, widths);
  for (const auto& row : table.rows) print_row(out, table, row, widths);
}

void print_table_markdown(std::ostream& out, const Table& table) {
  print_markdown_row(out, table.titles);
  out << '|';
  for (const bool right : table.right) out << (right ? "---:|" : "---|");
  out << '\n';
  for (const auto& row : table.rows) print_markdown_row(out, row);
}

std::string with_escaped_bars(const std::string& text) {
  std::string safe;
  for (const char letter : text) safe += letter == '|' ? std::string("\\|") : std::string(1, letter);
  return safe;
}

std::string markdown_cell(const std::string& text) {
  std::string safe;
  for (const char letter : with_escaped_bars(text))
    safe += letter == '<' ? std::string("&lt;") : letter == '&' ? std::string("&amp;") : std::string(1, letter);
  return safe;
}

std::string markdown_code(const std::string& text) {
  size_t longest = 0, run = 0;
  for (const char letter : text) {
    run = letter == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`'), gap(longest > 0 ? 1 : 0, ' ');
  return fence + gap + text + gap + fence;
}

int output_columns(int elsewhere) {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : elsewhere;
}

}  // namespace heed::cli
