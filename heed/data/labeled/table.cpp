#include "heed/data/labeled/table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/nearest.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

constexpr size_t kMaxFieldBytes = kMaxLineBytes, kShownNames = 200;

using Record = std::vector<std::string>;

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

void check_choice(const std::string& option, const std::string& got, const std::vector<std::string>& known) {
  check(std::find(known.begin(), known.end(), got) != known.end(), "data/table: got ", option, " '", excerpt(got),
        "', expected one of ", joined(known), suggestion(got, known));
}

bool is_tsv(const TableOptions& options, const std::string& file, const std::string& first_line) {
  if (options.format != "auto") return options.format == "tsv";
  std::string_view name = file;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (name.ends_with(".csv") || name.ends_with(".tsv")) return name.ends_with(".tsv");
  return first_line.find('\t') != std::string::npos;
}

/// The records of CSV, one after another. A record has several lines if a field in quotes has.
class CsvRecords {
 public:
  CsvRecords(const std::string& file, const std::vector<std::string>& lines) : file_(file), lines_(lines) {}

  bool at_end() const { return next_ == lines_.size(); }
  /// Number of lines that were read.
  size_t line() const { return next_; }

  Record next() {
    take_line();
    Record fields;
    for (;;) {
      fields.push_back(rest_.starts_with('"') ? quoted() : plain());
      if (rest_.empty()) return fields;
      rest_.remove_prefix(1);  // the comma; a field follows it, perhaps an empty one
    }
  }

 private:
  void take_line() { rest_ = lines_[next_++]; }

  std::string plain() {
    std::string field(rest_.substr(0, rest_.find(',')));
    rest_.remove_prefix(field.size());
    return field;
  }

  std::string quoted() {
    const size_t begin = next_;
    std::string field;
    rest_.remove_prefix(1);
    for (;;) {
      const size_t quote = rest_.find('"');
      field += rest_.substr(0, quote);
      check(field.size() <= kMaxFieldBytes, "data/table: ", file_, ":", begin, ": got a field of more than ",
            kMaxFieldBytes, " bytes, expected a text; the quote that opens it may lack the one that closes it");
      if (quote == std::string_view::npos) {
        check(!at_end(), "data/table: ", file_, ":", begin,
              ": got a quote that is never closed, expected another one at the end of the field; close it, or write "
              "a quote inside a field as \"\"");
        field += '\n';
        take_line();
        continue;
      }
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with('"')) break;
      field += '"';
      rest_.remove_prefix(1);
    }
    if (!rest_.empty() && !rest_.starts_with(','))
      fail("data/table: ", file_, ":", next_, ": got '", excerpt(rest_, 20),
           "' after a closing quote, expected a comma or the end of the line; write a quote inside a field as \"\"");
    return field;
  }

  const std::string& file_;
  const std::vector<std::string>& lines_;
  size_t next_ = 0;
  std::string_view rest_;  // of the last line that was taken
};

void read_csv(const std::vector<std::string>& lines, Table& table) {
  CsvRecords csv(table.file, lines);
  while (!csv.at_end()) {
    const size_t line = csv.line() + 1;
    Record record = csv.next();
    const size_t width = table.records.empty() ? record.size() : table.records.front().size();
    check(record.size() == width, "data/table: ", table.file, ":", line, ": got ",
          record.size() == 1 && record[0].empty() ? "an empty line" : std::to_string(record.size()) + " fields",
          ", expected ", width, " fields as in the first record; put a field with commas in quotes");
    table.records.push_back(std::move(record));
    table.lines.push_back(static_cast<int64_t>(line));
  }
}

void read_tsv(const std::vector<std::string>& lines, Table& table) {
  for (size_t i = 0; i < lines.size(); ++i) {
    table.records.push_back(fields_of(lines[i], '\t'));
    table.lines.push_back(static_cast<int64_t>(i) + 1);
  }
}

/// "1 column", "3 columns".
std::string columns_of(size_t count) {
  return std::to_string(count) + (count == 1 ? " column" : " columns");
}

}  // namespace

std::string Table::where(size_t record) const {
  return file + ":" + std::to_string(lines.at(record));
}

size_t Table::column(const std::string& which, const std::string& key) const {
  const std::string of_key = key.empty() ? "" : " of " + key;
  if (is_number(which)) {
    const size_t width = names.empty() ? records.at(0).size() : names.size();
    const size_t number = which.size() > 6 ? width + 1 : std::stoul(which);
    check(number >= 1 && number <= width, "data/table: ", file, ": got column ", which, of_key, ", expected 1 to ",
          width, names.empty() ? "" : ": " + excerpt(joined(names), kShownNames));
    return number - 1;
  }
  check(!names.empty(), "data/table: ", file, ": got column '", excerpt(which), "'", of_key,
        ", expected a number, since the file is read without a header; set header to true or count columns from 1");
  const auto found = std::find(names.begin(), names.end(), which);
  check(found != names.end(), "data/table: ", file, ":1: got no column '", excerpt(which), "'", of_key,
        ", expected one of ", excerpt(joined(names), kShownNames), suggestion(which, names));
  check(std::find(found + 1, names.end(), which) == names.end(), "data/table: ", file, ":1: got several columns '",
        excerpt(which), "'", of_key, ", expected one; ask for it by its number");
  return static_cast<size_t>(found - names.begin());
}

void Table::check_widths(size_t fields) const {
  const size_t first = names.empty() ? records.at(0).size() : names.size(), width = std::max(fields, first);
  for (size_t i = 0; i < size(); ++i)
    check(records[i].size() <= width, "data/table: ", where(i), ": got ", columns_of(records[i].size()),
          ", expected at most ", width, fields > first ? "" : " as in the first record", "; a text has no TABs in it");
}

const std::string& Table::field(size_t record, size_t column) const {
  const auto& fields = records.at(record);
  check(column < fields.size(), "data/table: ", where(record), ": got ", columns_of(fields.size()),
        ", expected at least ", column + 1);
  return fields[column];
}

Table read_table(const std::string& file, const TableOptions& options) {
  check_choice("format", options.format, {"auto", "csv", "tsv"});
  check_choice("header", options.header, {"auto", "true", "false"});
  const auto lines = read_lines_of(file, "records with commas or TABs between their fields");
  for (size_t i = 0; i < lines.size(); ++i)
    check(lines[i].find('\0') == std::string::npos, "data/table: ", file, ":", i + 1,
          ": got a NUL byte, expected text; write the file again as text");
  const bool blank = std::all_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find_first_not_of(" \t") == std::string::npos;
  });
  check(!blank, "data/table: ", file, ": got no records in ", lines.size(), lines.size() == 1 ? " line" : " lines",
        ", all of which are blank, expected some");
  Table table;
  table.file = file;
  table.tsv = is_tsv(options, file, lines.front());
  table.tsv ? read_tsv(lines, table) : read_csv(lines, table);
  const bool named = std::any_of(options.columns.begin(), options.columns.end(),
                                 [](const std::string& column) { return !is_number(column); });
  if (options.header == "true" || (options.header == "auto" && named)) {
    table.names = std::move(table.records.front());
    table.records.erase(table.records.begin());
    table.lines.erase(table.lines.begin());
    check(table.size() > 0, "data/table: ", file, ": got a header alone, expected records after it");
  }
  table.check_widths(options.fields);
  return table;
}

}  // namespace heed
