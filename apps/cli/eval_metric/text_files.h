// Texts of one sentence per line: hypotheses of one or several systems, and one or several references.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/eval_metric/file_metric.h"

namespace heed::cli {

struct TextFiles {
  static constexpr const char* kKind = "texts";
  TextFiles(const FileMetricOptions& options, FileReader& reader);

  std::vector<Sentences> systems, references;
  size_t lines() const { return references.front().size(); }
};

/// Lines of files, where line i of one belongs to line i of the others.
struct LinesOfFiles {
  std::vector<std::vector<std::string>> systems, references;
};
/// Reads them; a reference that is missing is an Error, as is another number of lines. expected: "a sentence".
LinesOfFiles read_lines_of(const FileMetricOptions& options, FileReader& reader, const std::string& expected);

/// Throws Error if there are several references. of: a metric or a kind of files.
void check_one_reference(const std::string& of, size_t references);

}  // namespace heed::cli
