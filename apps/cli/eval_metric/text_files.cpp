#include "apps/cli/eval_metric/text_files.h"

#include "heed/base/check.h"

namespace heed::cli {
namespace {

/// UTF-16 without a byte-order mark, and binary files, have NUL bytes.
void check_no_nul(const std::vector<std::string>& paths, const std::vector<Sentences>& texts) {
  for (size_t file = 0; file < texts.size(); ++file)
    for (size_t i = 0; i < texts[file].size(); ++i)
      check(texts[file][i].find('\0') == std::string::npos, at_line(paths[file], i),
            "got a NUL byte, expected text; save the file as UTF-8");
}

}  // namespace

LinesOfFiles read_lines_of(const FileMetricOptions& options, FileReader& reader, const std::string& expected) {
  const auto& first = options.hypotheses.front();
  check(!options.references.empty(), "eval: hypotheses in ", first, " without references, expected a file of them");
  LinesOfFiles all;
  all.systems.push_back(reader.lines(first, expected));
  const size_t lines = all.systems[0].size();
  check(lines > 0, "eval: ", first, " is empty, expected ", expected, " on each line");
  for (size_t i = 1; i < options.hypotheses.size(); ++i)
    all.systems.push_back(reader.lines_beside(options.hypotheses[i], first, lines, expected));
  for (const auto& path : options.references)
    all.references.push_back(reader.lines_beside(path, first, lines, expected));
  return all;
}

void check_one_reference(const std::string& of, size_t references) {
  check(references <= 1, "eval: got ", references, " references for ", of,
        ", expected one; systems to compare are given by --hypothesis");
}

TextFiles::TextFiles(const FileMetricOptions& options, FileReader& reader) {
  auto lines = read_lines_of(options, reader, "a sentence");
  systems = std::move(lines.systems);
  references = std::move(lines.references);
  check_no_nul(options.hypotheses, systems);
  check_no_nul(options.references, references);
}

}  // namespace heed::cli
