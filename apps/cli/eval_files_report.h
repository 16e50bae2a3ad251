// What heed eval prints of plain files: lines as sacreBLEU's for one system; with intervals or several systems a table
// for each metric, then how it was made; or JSON.

#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "apps/cli/eval_files.h"
#include "apps/cli/eval_links.h"
#include "apps/cli/provenance.h"

namespace heed::cli {

struct ByLength {
  std::vector<LengthBucket> buckets{};
  bool characters = false;  // lengths are in characters, not words
};

struct Evaluated {
  struct Metric {
    Measured measured;
    Significance significance;
  };
  std::vector<std::string> systems;
  std::vector<Metric> metrics;
  ByLength by_length;
  std::optional<AlignmentError> links;
  Provenance origin;
};

void print_evaluated(std::ostream& out, const Evaluated& all, const EvalFilesOptions& options);
void print_evaluated_json(std::ostream& out, const Evaluated& all, const EvalFilesOptions& options);

}  // namespace heed::cli
