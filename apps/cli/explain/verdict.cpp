#include "apps/cli/explain/verdict.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"
#include "heed/data/explanation.h"
#include "heed/data/saved_model.h"

namespace heed::cli {

std::string verdict_on(const std::string& run, const std::string& command, std::ostream& err) {
  try {
    const auto found = read_explanation(run);
    const bool tested = found && std::any_of(found->results.begin(), found->results.end(),
                                             [](const ExplanationResult& result) { return result.not_run.empty(); });
    if (!tested) return "";
    for (const auto& [name, value] : found->facts)
      if (name == kExplanationModelFact && value != file_md5(run + "/model.safetensors"))
        fail(run, "/", kExplanationFile,
             ": got tests of other weights than those of model.safetensors, expected of the ",
             "same; run heed explain again");
    return short_verdict(*found);
  } catch (const Error& error) {
    err << command << ": " << printable_message(error.what()) << '\n';
    return "";
  }
}

}  // namespace heed::cli
