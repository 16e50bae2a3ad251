#include "heed/data/labeled/vectors.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/base/scalar.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

constexpr int64_t kMaxDim = 1 << 16;

bool is_count(const std::string& text, int64_t& value) {
  return text.find_first_not_of("0123456789") == std::string::npos && read_integer(text, value);
}

/// Reads the lines of one file in order.
class VectorReader {
 public:
  VectorReader(const std::string& file, const std::unordered_map<std::string, int64_t>& rows)
      : file_(file), rows_(rows) {
    for (const auto& [word, row] : rows) {
      check(row >= 0, "data/vectors: got row ", row, " of the word '", excerpt(word), "', expected 0 or more");
      count_rows_ = std::max(count_rows_, row + 1);
    }
  }

  void read(std::string_view line, size_t number) {
    number_ = number;
    while (line.ends_with(' ')) line.remove_suffix(1);
    if (number == 1 && read_size(line)) return;
    ++vectors_;
    const int64_t got = std::count(line.begin(), line.end(), ' ');
    if (result_.dim == 0) set_dim(got);
    if (got != result_.dim)
      fail(where(), "got ", got, " values, expected ", result_.dim, first_ ? " as the first line says" : " as before",
           "; a word has no blanks");
    const auto row = rows_.find(std::string(line.substr(0, line.find(' '))));
    if (row != rows_.end() && !result_.found[static_cast<size_t>(row->second)]) read_values(line, row->second);
  }

  WordVectors finish() {
    check(!first_ || vectors_ == expected_, "data/vectors: ", file_, ": got ", vectors_, " vectors, expected ",
          expected_, " as the first line says; fetch the file again");
    check(result_.count_found > 0, "data/vectors: ", file_, ": got vectors of ", vectors_, " words, none of which is ",
          "among the ", rows_.size(), " words of the vocabulary; check language, case and tokenizer");
    return std::move(result_);
  }

 private:
  std::string where() const { return "data/vectors: " + file_ + ":" + std::to_string(number_) + ": "; }

  /// The first line of word2vec: how many vectors, of how many values.
  bool read_size(std::string_view line) {
    const auto fields = fields_of(line, ' ');
    int64_t dim = 0;
    first_ = fields.size() == 2 && is_count(fields[0], expected_) && is_count(fields[1], dim);
    if (first_) set_dim(dim);
    return first_;
  }

  void set_dim(int64_t dim) {
    if (dim < 1 || dim > kMaxDim)
      fail(where(), "got ", dim, " values, expected 1 to ", kMaxDim, " after a word and a blank");
    result_.dim = dim;
    result_.values.resize(static_cast<size_t>(count_rows_ * dim));
    result_.found.resize(static_cast<size_t>(count_rows_));
  }

  void read_values(std::string_view line, int64_t row) {
    const auto fields = fields_of(line, ' ');
    for (int64_t i = 0; i < result_.dim; ++i) {
      const std::string& text = fields[static_cast<size_t>(i) + 1];
      double value = 0;
      if (!read_number(text, value) || !std::isfinite(static_cast<float>(value)))
        fail(where(), "got '", excerpt(text), "' as value ", i + 1, " of the word '", excerpt(fields[0]),
             "', expected a finite number");
      result_.values[static_cast<size_t>(row * result_.dim + i)] = static_cast<float>(value);
    }
    result_.found[static_cast<size_t>(row)] = true;
    ++result_.count_found;
  }

  const std::string& file_;
  const std::unordered_map<std::string, int64_t>& rows_;
  WordVectors result_;
  int64_t count_rows_ = 0, vectors_ = 0, expected_ = 0;  // expected_: as the first line says
  bool first_ = false;                                   // whether there is such a line
  size_t number_ = 0;
};

}  // namespace

WordVectors read_word_vectors(const std::string& file, const std::unordered_map<std::string, int64_t>& rows) {
  VectorReader reader(file, rows);
  each_line(
      file, [&](std::string_view line, size_t number) { reader.read(line, number); },
      "a word and its values on each line");
  return reader.finish();
}

}  // namespace heed
