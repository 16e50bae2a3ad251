#include "apps/cli/explain/verdict.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/data/explanation.h"

namespace heed::cli {

std::string verdict_on(const std::string& run, const std::string& command, std::ostream& err) {
  try {
    const auto found = read_explanation(run);
    const bool tested = found && std::any_of(found->results.begin(), found->results.end(),
                                             [](const ExplanationResult& result) { return result.not_run.empty(); });
    return tested ? short_verdict(*found) : "";
  } catch (const Error& error) {
    err << command << ": " << printable_message(error.what()) << '\n';
    return "";
  }
}

}  // namespace heed::cli
