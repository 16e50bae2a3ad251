// heed eval on plain files: outputs of one system or several against references, by any metric of eval_metric/, with
// intervals and tests of significance; links against gold links. A byte-order mark at the start of a file is ignored;
// sacreBLEU counts it as a character of the first word.

#pragma once

#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/eval_metric/file_metric.h"
#include "apps/cli/eval_significance.h"

#include "heed/data/text_file.h"
#include "heed/metrics/by_length.h"

namespace heed::cli {

struct EvalFilesOptions : FileMetricOptions {
  std::vector<std::string> metrics{"bleu", "chrf", "ter"};  // any of FileMetric::names(), of one kind
  SignificanceOptions significance;
  std::string source;  // file for BLEU by source length; empty: not reported
  std::vector<int64_t> length_bounds = kLengthBounds;
  bool source_characters = false;  // measures lengths in characters even if most lines have whitespace
  std::string links, gold_links;   // files in Pharaoh format
  std::optional<int> digits;       // after the decimal point; none: as the metric has it
  bool json = false;
  int columns = 0;                      // width of tables; 0: no limit
  FileReader::Lines read = read_lines;  // returns the lines of a file
  std::ostream* remarks = &std::cerr;
};

/// Evaluates the files and prints the metrics, as text like sacreBLEU's or as JSON. Throws on files that do not match.
void eval_files(std::ostream& out, const EvalFilesOptions& options);

}  // namespace heed::cli
