// heed eval on plain files: translations against references, links against gold links. A byte-order mark at the start
// of a file is ignored; sacreBLEU counts it as a character of the first word.

#pragma once

#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "heed/base/links.h"
#include "heed/data/text_file.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/by_length.h"
#include "heed/metrics/ter.h"

namespace heed::cli {

struct EvalFilesOptions {
  std::string hypothesis;                                   // file, one sentence per line
  std::vector<std::string> references;                      // files, one sentence per line
  std::vector<std::string> metrics{"bleu", "chrf", "ter"};  // any of eval_metrics()
  BleuOptions bleu;                                         // bleu.lowercase applies to chrF too
  TerOptions ter;
  std::string source;  // file for BLEU by source length; empty: not reported
  std::vector<int64_t> length_bounds = kLengthBounds;
  bool source_characters = false;  // measures lengths in characters even if most lines have whitespace
  std::string links, gold_links;   // files in Pharaoh format
  LinkNumbers links_numbers, gold_numbers;
  int digits = 2;  // after the decimal point
  bool json = false;
  std::function<std::vector<std::string>(const std::string& path)> read = read_lines;  // returns the lines of a file
  std::ostream* remarks = &std::cerr;
};

/// Names of the known metrics: "bleu", "chrf", "chrf++", "ter".
std::vector<std::string> eval_metrics();

/// Evaluates the files and prints the metrics, as text like sacreBLEU's or as JSON. Throws on files that do not match.
void eval_files(std::ostream& out, const EvalFilesOptions& options);

}  // namespace heed::cli
