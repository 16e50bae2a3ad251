// Word links in Pharaoh format, one line per sentence pair, against gold links with sure and possible ones.

#pragma once

#include <string>
#include <vector>

#include "apps/cli/eval_metric/file_metric.h"

namespace heed::cli {

/// Links of the lines of a file; a malformed one is an Error that names the line.
std::vector<Links> links_of_lines(const std::string& path, const std::vector<std::string>& lines, LinkNumbers numbers);

struct LinkFiles {
  static constexpr const char* kKind = "links";
  LinkFiles(const FileMetricOptions& options, FileReader& reader);

  std::vector<Links> gold;
  std::vector<std::vector<Links>> systems;
};

}  // namespace heed::cli
