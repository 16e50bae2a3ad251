// heed eval --links --gold-links: word links of a system against gold links, with a remark where a file seems to count
// words from 1. With several systems and intervals, it is the metric aer (eval_metric/link_error.cpp).

#pragma once

#include <ostream>
#include <string>

#include "apps/cli/eval_metric/file_reader.h"

#include "heed/base/links.h"
#include "heed/metrics/alignment_error.h"

namespace heed::cli {

struct EvalLinksOptions {
  std::string links, gold;  // files in Pharaoh format
  LinkNumbers links_numbers, gold_numbers;
  int digits = 2;
};

AlignmentError link_errors(const EvalLinksOptions& options, FileReader& reader, std::ostream& remarks);

}  // namespace heed::cli
