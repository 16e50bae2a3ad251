// heed eval on plain files: translations against references, links against gold links. A byte-order mark at the start
// of a file is dropped; sacreBLEU counts it as a character of the first word.

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
  std::string hypothesis;                                   // one sentence a line
  std::vector<std::string> references;                      // files, one sentence a line each
  std::vector<std::string> metrics{"bleu", "chrf", "ter"};  // those of eval_metrics()
  BleuOptions bleu;                                         // its lowercase is that of chrF too
  TerOptions ter;
  std::string source;  // "": no BLEU by the length of the source
  std::vector<int64_t> length_bounds = kLengthBounds;
  bool source_characters = false;  // lengths in characters even where most lines have words between whitespace
  std::string links, gold_links;   // Pharaoh lines
  LinkNumbers links_numbers, gold_numbers;
  int digits = 2;  // after the decimal point
  bool json = false;
  std::function<std::vector<std::string>(const std::string& path)> read = read_lines;  // the lines of a file
  std::ostream* remarks = &std::cerr;
};

/// "bleu", "chrf", "chrf++", "ter"
std::vector<std::string> eval_metrics();

void eval_files(std::ostream& out, const EvalFilesOptions& options);

}  // namespace heed::cli
