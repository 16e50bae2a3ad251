// Reads a table: records of fields, some of which are texts and one the label. Formats:
//
//   csv    RFC 4180: commas between fields; a field in "quotes" may hold commas, line breaks and "" for one quote. A
//          quote inside a field without quotes is a character like any other. A line break in a field becomes LF
//   tsv    TABs between fields, a record on each line; quotes are characters like any other
//   auto   by the name, .csv or .tsv, also before .gz; with another name it is tsv if the first line has a TAB
//
// The file may be gzip. Columns are named by the header or counted from 1. An Error names file and line.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

struct TableOptions {
  std::string format = "auto";
  /// Whether the first record names the columns: true, false or auto. Nothing in a file says so; auto takes it for a
  /// header if one of `columns` is a name instead of a number.
  std::string header = "auto";
  std::vector<std::string> columns{};  // that are read, for header: auto
  /// Of tsv: a record may have as many fields although the first one has fewer.
  size_t fields = 0;
};

/// All records of a CSV file have equally many fields; those of a TSV file may have fewer than the first.
struct Table {
  std::string file;
  bool tsv = false;
  std::vector<std::string> names;                 // of the columns; empty without a header
  std::vector<std::vector<std::string>> records;  // without the header
  std::vector<int64_t> lines;                     // the first line of each record, from 1

  size_t size() const { return records.size(); }
  /// "train.csv:17"
  std::string where(size_t record) const;
  /// Index of a column, from its name in the header or its number from 1. key: of the recipe, for the message of an
  /// Error.
  size_t column(const std::string& name_or_number, const std::string& key = "") const;
  /// An Error if a record has more columns than the first one, or the header, and more than `fields`.
  void check_widths(size_t fields = 0) const;
  /// A field; an Error if the record has none in that column.
  const std::string& field(size_t record, size_t column) const;
};

/// Reads the whole file; an Error if no record is left after the header.
Table read_table(const std::string& file, const TableOptions& options = {});

}  // namespace heed
