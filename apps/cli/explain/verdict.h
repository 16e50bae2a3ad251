// What is shown next to maps of weights: what tests of these weights found.

#pragma once

#include <ostream>
#include <string>

namespace heed::cli {

/// The short verdict in the run folder; "" if no test was run. A file that cannot be read, or is of other weights than
/// those of the run, is a line on `err`: maps are shown without it. command: who says so.
std::string verdict_on(const std::string& run, const std::string& command, std::ostream& err);

}  // namespace heed::cli
